package ledger

import (
	"errors"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAcknowledge: an open incident has who looks after it last, and holds what it held; one that is closed or unknown
// takes nobody.
func TestAcknowledge(t *testing.T) {
	g := browsed(t)
	for _, by := range []string{"ana", "ben"} {
		if err := g.AcknowledgeIncident(t.Context(), "i-1", reconcile.Attribution{Author: by, Reason: "looking"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := g.Incident(t.Context(), "i-1")
	if err != nil || got.AckedBy != (reconcile.Attribution{Author: "ben", Reason: "looking"}) || got.AckedAt.IsZero() || !got.Holds() {
		t.Errorf("acknowledged: %+v, %v", got, err)
	}
	lines, err := g.Timeline(t.Context(), TimelinePart{Text: "incident:i-1", Most: 9})
	if err != nil || len(lines) != 2 || lines[0].Kind != "operator" {
		t.Errorf("the record has %v, %v", lines, err)
	}
	if _, err := g.pool.Exec(t.Context(), "UPDATE sandkeeper.incidents SET closed_at = now()"); err != nil {
		t.Fatal(err)
	}
	if g.AcknowledgeIncident(t.Context(), "i-1", reconcile.Attribution{Author: "eve", Reason: "looking"}) == nil {
		t.Error("a closed incident was acknowledged")
	}
	if err := g.AcknowledgeIncident(t.Context(), "none", reconcile.Attribution{Author: "eve", Reason: "looking"}); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("one that is unknown: %v", err)
	}
	if got, _ := g.Incident(t.Context(), "i-1"); got.AckedBy.Author != "ben" {
		t.Errorf("it is %s's", got.AckedBy.Author)
	}
}
