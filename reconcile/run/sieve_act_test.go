package run

import (
	"context"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TestNothingIsDoneOnAPart: a process that kept only some rows does not even ask what is open, whoever asked for it
// meanwhile.
func TestNothingIsDoneOnAPart(t *testing.T) {
	for name, plain := range map[string]int{"a part": 1, "everybody": 0} {
		asked := &openAsked{}
		r := &executor{}
		r.k, r.actions, r.view = &Reconciler{}, asked, view.Of(&reconcile.Policy{})
		r.view.S.Plain.Tasks = plain
		if err := r.act(t.Context()); err != nil || asked.times != 1-plain {
			t.Errorf("%s: act = %v, and asked %d times what is open, want %d", name, err, asked.times, 1-plain)
		}
	}
}

// openAsked counts how often somebody asks what is open.
type openAsked struct {
	reconcile.Actions
	times int
}

func (a *openAsked) OpenActions(context.Context, ...string) ([]reconcile.Action, error) {
	a.times++
	return nil, nil
}
