package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// stuck are n handed out tasks whose sandboxes are not listed and cannot be looked at.
func stuck(n int) string {
	return strings.ReplaceAll("task t{001..N} assigned updated=1h; knew box daytona/s{001..N} running task=t{001..N}; "+
		"knew box daytona/w{001..N} running; box daytona/w{001..N} running task=w{001..N}; row w{001..N} completed updated=1s",
		"N", fmt.Sprintf("%03d", n))
}

// lookIn makes the direct looks of one pass in a world where no sandbox can be looked at. It returns the
// tasks whose turn it was, by how many looks were made for each.
func lookIn(w *worldtest.World, turn int64, text string) (looked map[string]int, p *decide.Plan, j *decide.Judgement) {
	w.T.Helper()
	w.Observe(worldtest.Anchor, text)
	w.Only("assigned-stale")
	k := &Reconciler{Policy: w.P, Providers: map[string]reconcile.Provider{"daytona": circuit{errCircuitOpen}}, turn: turn, Parallel: 1}
	k.observer().lookSuspects(w.T.Context(), &w.S, judgeWorld(w))
	j, p = planWorld(w)
	looked = map[string]int{}
	for id := range w.S.Finds {
		looked[id] = 1
	}
	for ref := range w.S.Lookups {
		looked[w.S.Memory.Sandboxes.Of(ref).Task]++
	}
	return looked, p, j
}

// TestLooksTakeTurns: however many are stuck, each is looked at within as many passes as is promised,
// from whatever pass on, and each pass tells honestly how many it did not look at.
func TestLooksTakeTurns(t *testing.T) {
	for n, turns := range map[int]int{1: 1, 300: 1, 301: 2, 700: 3} {
		for _, first := range []int64{0, 8} {
			w := worldtest.NewWorld(t)
			seen := map[string]bool{}
			for turn := first; turn < first+int64(turns); turn++ {
				looked, p, j := lookIn(w, turn, stuck(n))
				for id := range looked {
					seen[id] = true
				}
				if len(looked) > view.LooksPerPass || p.Unlooked != n-len(looked) {
					t.Fatalf("%d stuck, pass %d: %d looked at, %d told not to be", n, turn, len(looked), p.Unlooked)
				}
				if 1+LookTurns(p.Unlooked) != turns {
					t.Errorf("%d stuck, pass %d: %d more passes are promised, want %d", n, turn, LookTurns(p.Unlooked), turns-1)
				}
				sum := p.Kept + p.Unlooked + p.Blinds()
				if found := len(p.Findings); found != 0 || p.Blinds() != len(looked) || sum != len(j.Decisions) {
					t.Errorf("%d stuck, pass %d: %d found, %d kept, %d not looked at and %d in vain of %d", n, turn, found, p.Kept,
						p.Unlooked, p.Blinds(), len(j.Decisions))
				}
			}
			if len(seen) != n {
				t.Errorf("%d stuck: from pass %d on %d were looked at within %d passes", n, first, len(seen), turns)
			}
		}
	}
}

// TestLookTurns: how many more passes it takes.
func TestLookTurns(t *testing.T) {
	for unlooked, want := range map[int]int{0: 0, 1: 1, 300: 1, 301: 2, 600: 2, 601: 3} {
		if got := LookTurns(unlooked); got != want {
			t.Errorf("%d not looked at: within %d passes, want %d", unlooked, got, want)
		}
	}
}

// TestLooksOfMany: those who take many looks each do not keep others from theirs.
func TestLooksOfMany(t *testing.T) {
	w := worldtest.NewWorld(t)
	const world = "task t{1..300} assigned updated=1h; knew box daytona/a{1..300} running task=t{1..300}; " +
		"knew box daytona/b{1..300} running task=t{1..300}; knew box daytona/c{1..300} running task=t{1..300}"
	seen := map[string]bool{}
	for turn := range int64(2) {
		looked, p, _ := lookIn(w, turn, world)
		looks := 0
		for id, n := range looked {
			seen[id], looks = true, looks+n
		}
		if looks > 2*view.LooksPerPass || p.Unlooked != 150 {
			t.Errorf("pass %d: %d looks, %d not looked at", turn, looks, p.Unlooked)
		}
	}
	if len(seen) != 300 {
		t.Errorf("%d of 300 were looked at within two passes", len(seen))
	}
}

// TestUnlookedAndFound: who waits for a look and is found by another rule is found.
func TestUnlookedAndFound(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "task t1 running started=1h timeout=10m; task t2 assigned updated=1h; box daytona/s1 running task=t1")
	w.S.Unlooked = map[string]bool{"task:t1": true, "task:t2": true}
	_, p := planWorld(w)
	if p.Unlooked != 1 || p.Kept != 1 || len(p.Findings) != 1 {
		t.Errorf("%d not looked at, %d kept, %d found; want one each", p.Unlooked, p.Kept, len(p.Findings))
	}
}

// A suspect whose look failed is neither healthy nor found: nobody knows how it is. A sign of life of its worker says
// that it is well, and a look that was made settles it.
func TestBlind(t *testing.T) {
	const at = "provider daytona id=yes; knew box daytona/s1 running task=t1; task t1 running started=1h updated=1h sandbox=s1 ev.heartbeat="
	for name, c := range map[string]struct {
		world       string
		kept, blind int // the world has one that is well besides
	}{
		"the look failed":                 {at + "1h; look daytona/s1 error", 1, 1},
		"the search failed":               {"task t1 assigned updated=1h; find t1 error", 1, 1},
		"and its worker lives":            {at + "10s; look daytona/s1 error", 2, 0},
		"the look found it":               {at + "10s; look daytona/s1 running task=t1 key=s1", 2, 0},
		"the look of nothing it rests on": {at + "10s; box daytona/s1 running task=t1 key=s1; look daytona/s2 error", 2, 0},
	} {
		_, p := planWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
		if p.Kept != c.kept || p.Blinds() != c.blind || len(p.Findings) != 0 || p.Blind["daytona"].Subjects != c.blind {
			t.Errorf("%s: %d kept, %+v, %d found; want %d kept and %d that could not be looked at", name, p.Kept, p.Blind,
				len(p.Findings), c.kept, c.blind)
		}
	}
}
