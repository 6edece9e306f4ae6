package reconcile

// A ProofPolicy is what a rule must show on this platform's own history before enforce acts. The zero value asks
// for nothing: rules act unproven.
type ProofPolicy struct {
	FalsePositives float64 // the most that the upper bound of their rate may be, from 0 to 1
	Samples        int     // over so many cases at least; 0: nothing is asked for
	Mapping        string  // a sum of what rows and events mean: a proof for another is none
	Owners         string  // a sum of which sandboxes are ours, and how they are linked
}
