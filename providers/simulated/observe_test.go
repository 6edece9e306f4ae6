package simulated_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestObserverIsToldOfCallsAndFaults(t *testing.T) {
	w := simulated.New(simulated.Options{PageSize: 2})
	for i := range 5 {
		w.Put(simulated.Sandbox{ID: fmt.Sprintf("sb-%d", i)})
	}
	w.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Drop})
	var seen []string
	w.Observe(func(c simulated.Call, f simulated.Fault) {
		seen = append(seen, fmt.Sprintf("%s %s %d %s", c.Kind, c.ID, c.Page, f.Effect))
	})
	p := w.Provider(entry.Entry{Name: "lab"})
	listed := 0
	_, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		listed += len(page)
		return nil
	})
	if err != nil || listed != 5 {
		t.Errorf("List = %d sandboxes, %v, want 5", listed, err)
	}
	if _, err := p.Get(t.Context(), "sb-1"); err == nil {
		t.Error("Get was answered in spite of the fault")
	}
	want := []string{"list  1 ", "list  2 ", "list  3 ", "get sb-1 0 drop"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("calls that were seen (-want +got):\n%s", diff)
	}
}
