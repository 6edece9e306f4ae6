package reconcile

import "time"

// Evidence is one observed fact that a verdict rests on: who said it and when.
type Evidence struct {
	Source string    `json:"source"` // tasks, events, ledger, or a provider entry's name
	At     time.Time `json:"at"`     // of the source's own clock
	Fact   string    `json:"fact"`
}
