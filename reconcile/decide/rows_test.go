package decide

import (
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// Whose sandbox it is, the rows that name it are asked, unless a label or the ledger tells. That a task had
// one of its name before does not.
func TestRowsAreAskedForASandbox(t *testing.T) {
	const name = "provider daytona id=yes label=no; box daytona/s1 running key=s1 name=k0 lasting=yes; "
	for world, want := range map[string][]string{
		name: {"s1"},
		name + "knew box daytona/s0 stopped name=k0 task=t2":        {"s1"},
		name + "knew box daytona/s1 running name=k0 task=t2":        nil,
		"box daytona/s1 running key=s1 task=t2":                     nil,
		"box daytona/s1 running key=s1 task=t3":                     {"s1"},
		"box daytona/s1 running key=s1 name=k0 lasting=yes task=t2": nil,
	} {
		w := worldtest.NewWorld(t, world, "task t2 running")
		if _, keys := view.WantedRows(&w.S, &w.P, map[string]bool{"t2": true}, nil); !slices.Equal(keys, want) {
			t.Errorf("asked are the rows that hold %q, want %q\nworld: %s", keys, want, world)
		}
	}
}

// TestRowsOfWhatWaitsItsTurnAreRead: a quick pass reads the rows of tasks that are over and whose finding waits for a
// place in the budget, until the hour's is used up.
func TestRowsOfWhatWaitsItsTurnAreRead(t *testing.T) {
	const due = "finding finished-lingering task:t1 due=yes first=10m last=2m sighted=2m; "
	for world, want := range map[string]bool{due: true, due + "spent 200": false, due + "task t1 running": false} {
		w := worldtest.NewWorld(t, world)
		w.S.Kind = reconcile.Quick
		for key, f := range w.S.Memory.Findings {
			f.Task = "t1"
			waitsItsTurn(&f)
			w.S.Memory.Findings[key] = f
		}
		ids, _ := view.WantedRows(&w.S, &w.P, map[string]bool{"t1": len(w.S.Tasks) > 0}, nil)
		if got := slices.Contains(ids, "t1"); got != want {
			t.Errorf("reads the rows of %v, want t1: %t\nworld: %s", ids, want, world)
		}
	}
}
