package reconcile

import "time"

// The bounds of looking for false positives.
const (
	WatchFor            = 2 * time.Hour // so long after its verdict a task may come back to life
	WatchMost           = 500           // rows read for it in one pass
	FalsePositivesMost  = 2             // percent of a rule's verdicts; more, and it goes back to observe
	FalsePositivesLeast = 3             // fewer prove nothing
)
