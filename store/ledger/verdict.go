package ledger

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What of the verdicts a pass recalls.
const (
	Watched      = 2 * time.Hour // how long verdicts are recalled: for regrets, and for incidents
	MostVerdicts = 1000          // of these at most so many, the newest
	MostTallied  = 100           // how many carried out verdicts of a rule speak for or against it
)

// CheckReleasable refuses to release an incident that holds nothing.
func CheckReleasable(i reconcile.Incident) error {
	switch {
	case !i.ClosedAt.IsZero():
		return fmt.Errorf("it closed at %s and holds nothing", i.ClosedAt.UTC().Format(time.RFC3339))
	case !i.ReleasedAt.IsZero():
		return fmt.Errorf("%s released it at %s", i.ReleasedBy.Author, i.ReleasedAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// Belong leaves those findings their incident that is open: one that a quick pass could not
// judge again is still written down as a closed one's.
func Belong(findings []reconcile.FindingSeen, open []reconcile.Incident) {
	known := make(map[string]bool, len(open))
	for _, i := range open {
		known[i.ID] = true
	}
	for i := range findings {
		if !known[findings[i].Incident] {
			findings[i].Incident = ""
		}
	}
}
