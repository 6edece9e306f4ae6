package reconcile

import "time"

// A CurvePoint is what a rule would have come to with one threshold.
type CurvePoint struct {
	After          time.Duration
	FalsePositives int
	Rate, Upper    float64
	DeadHours      float64       // of work of the dead before they are found
	Delay          time.Duration // at most so late half of the dead are found
}

// A Curve is what the last backtest of a rule came to by threshold, for its picture.
type Curve struct {
	Rule                    string
	At                      time.Time // ledger's clock
	After, Suggested        time.Duration
	Samples, FalsePositives int
	Upper                   float64
	Points                  []CurvePoint
}

// ReadProgress is how far a history has been read by runs that each have little time for it.
type ReadProgress struct {
	Key          string    // of what is asked of it
	Since, Until time.Time // its span, by the task database's clock
	After        string    // the task after which to go on
	Tasks        int       // that were read
	State        []byte    // what they came to so far
}
