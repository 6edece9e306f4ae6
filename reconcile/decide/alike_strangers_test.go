package decide

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestStrangersContradictExclusive: what nobody here ever knew is no leak where there is much of it, whatever the
// config says.
func TestStrangersContradictExclusive(t *testing.T) {
	for name, c := range map[string]struct {
		unknown, known int
		exclusive      string
		days           int
		held           bool
	}{
		"a few":                   {9, 0, "yes", 1, false},
		"many":                    {10, 0, "yes", 1, true},
		"a tenth":                 {10, 90, "yes", 1, false},
		"more than a tenth":       {10, 80, "yes", 1, true},
		"many, and they are new":  {10, 0, "yes", 0, false},
		"nobody said that it was": {10, 0, "no", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			var world strings.Builder
			fmt.Fprintf(&world, "provider daytona exclusive=%s", c.exclusive)
			for i := range c.unknown {
				fmt.Fprintf(&world, "; finding orphan sandbox:daytona/u%d first=1m last=1m sighted=1m; knew box daytona/u%d running task=other%d first=%dh; box daytona/u%d running task=other%d", i, i, i, 24*c.days+1, i, i)
			}
			for i := range c.known {
				fmt.Fprintf(&world, "; task k%d running started=1m; box daytona/k%d running task=k%d", i, i, i)
			}
			w := worldtest.NewWorld(t, worldtest.Anchor, world.String())
			w.Only("orphan")
			_, p := PlanWorld(w)
			lines := strings.Join(stepLines(p), "\n")
			if got := strings.Count(lines, "contradicts"); got != map[bool]int{true: c.unknown}[c.held] {
				t.Errorf("%d of the steps are held for it, want it: %v\n%s", got, c.held, lines)
			}
		})
	}
}
