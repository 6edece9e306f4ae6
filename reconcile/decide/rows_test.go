package decide

import (
	"slices"
	"testing"

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
		if _, keys := view.WantedRows(&w.S, map[string]bool{"t2": true}, nil); !slices.Equal(keys, want) {
			t.Errorf("asked are the rows that hold %q, want %q\nworld: %s", keys, want, world)
		}
	}
}
