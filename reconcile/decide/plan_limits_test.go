package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestBudgets(t *testing.T) {
	const fifty = "box daytona/f{01..50} running task=f{01..50}; " +
		"row f{01..50} completed updated=1s; " // with the anchor 51
	count := func(p *Plan) (do int, held map[string]int) {
		held = map[string]int{}
		for i := range p.Steps {
			if len(p.Steps[i].HeldBy) == 0 {
				do++
				continue
			}
			held[p.Steps[i].HeldBy.String()]++
		}
		return do, held
	}
	for name, c := range map[string]struct {
		world string
		do    int
		held  string
	}{
		"all fit":                     {fifty + orphans(5), 5, ""},
		"the share, rounded down":     {fifty + orphans(8), 5, "budget: share 10% of 59 sandboxes"},
		"the share is at least one":   {orphans(3), 1, "budget: share 10% of 4 sandboxes"},
		"per_pass is smaller":         {"limits per_pass=3; " + fifty + orphans(8), 3, "budget: per_pass 3"},
		"per_pass of nothing":         {"limits per_pass=0; " + fifty + orphans(3), 0, "budget: per_pass 0"},
		"per_hour is nearly spent":    {"spent 198; " + fifty + orphans(5), 2, "budget: per_hour 200"},
		"per_hour is spent":           {"spent 200; " + fifty + orphans(5), 0, "budget: per_hour 200"},
		"per_hour is more than spent": {"spent 900; " + fifty + orphans(5), 0, "budget: per_hour 200"},
		"a listing failed: the last inventory counts": {
			"provider e2b; listing e2b failed=503; " +
				"knew box e2b/e{01..50} running; " + orphans(8), 5, "budget: share 10% of 59 sandboxes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			do, held := count(p)
			if do != c.do || c.held == "" && len(held) > 0 || c.held != "" && (len(held) != 1 || held[c.held] == 0) {
				t.Errorf("%d steps to do and held by %v, want %d and %q", do, held, c.do, c.held)
			}
		})
	}
	testPlan(t, map[string]planCase{
		"a row alone takes no share": {
			"task t{1..3} assigned updated=1h; find t{1..3} none", do("fail t1", "fail t2", "fail t3")},
		"a row alone takes of per_pass": {
			"limits per_pass=2; task t{1..3} assigned updated=1h; find t{1..3} none",
			append(do("fail t1", "fail t2"), "held fail t3: budget: per_pass 2")},
		"a row alone takes of per_hour": {
			"limits per_hour=2; task t{1..3} assigned updated=1h; find t{1..3} none",
			append(do("fail t1", "fail t2"), "held fail t3: budget: per_hour 2")},
		"a row whose sandbox was only looked at and gone": {
			"task t{1..2} assigned updated=1h; knew box daytona/s{1..2} running task=t{1..2}; look daytona/s{1..2} gone; " +
				"knew box daytona/x{1..5} running; box daytona/x{1..5} running", do("fail t1", "fail t2")},
		"a row with a stopped sandbox takes its share": {
			"task t{1..2} running started=1h timeout=10m; box daytona/s{1..2} stopped task=t{1..2}",
			[]string{"do fail t1", "do terminate daytona/s1", "held fail t2: budget: share 10% of 3 sandboxes",
				"held terminate daytona/s2: budget: share 10% of 3 sandboxes"}},
		"the oldest finding first": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"finding orphan sandbox:daytona/s2 first=11m last=2m sighted=2m sightings=3; box daytona/s{1..2} running",
			[]string{"held terminate daytona/s1: budget: share 10% of 3 sandboxes", "do terminate daytona/s2"}},
		"what was planned before comes first": {
			"finding orphan sandbox:daytona/s1 first=10m last=2m sighted=2m sightings=3; " +
				"finding orphan sandbox:daytona/s2 first=11m last=2m sighted=2m sightings=3; box daytona/s{1..2} running; " +
				"action a1 orphan sandbox:daytona/s1 terminate box=daytona/s1",
			[]string{"do terminate daytona/s1", "held terminate daytona/s2: budget: share 10% of 3 sandboxes"}},
		"what follows its own first step is not planned anew, and takes no budget": {
			"finding orphan sandbox:daytona/s1 first=12m last=2m sighted=2m sightings=3; " +
				"finding orphan sandbox:daytona/s2 first=11m last=2m sighted=2m sightings=3; box daytona/s{1..2} running; " +
				"action a1 orphan sandbox:daytona/s1 quarantine box=daytona/s1; " +
				"action a2 orphan sandbox:daytona/s1 terminate box=daytona/s1 remedy=a1 seq=1",
			[]string{"do terminate daytona/s2"}},
		"what is held takes no budget": {
			"finding orphan sandbox:daytona/s{1..2} first=10m last=2m sighted=2m sightings=3; " +
				"box daytona/s{1..2} running; hold sandbox:s1",
			[]string{"held terminate daytona/s1: hold: sandbox:s1", "do terminate daytona/s2"}},
	})
}

// TestLimitsShared: the share of the fleet, at least one, never more than per_pass.
func TestLimitsShared(t *testing.T) {
	for _, c := range []struct {
		perPass int
		share   float64
		fleet   int
		want    int
	}{
		{20, 0.1, 0, 1}, {20, 0.1, 9, 1}, {20, 0.1, 19, 1}, {20, 0.1, 20, 2}, {20, 0.1, 199, 19}, {20, 0.1, 200, 20},
		{20, 0.1, 10000, 20}, {0, 0.1, 100, 0}, {20, 0, 100, 1}, {20, 1, 7, 7}, {100, 0.07, 100, 7}, {100, 0.29, 100, 29},
	} {
		if got := (reconcile.Limits{PerPass: c.perPass, Share: c.share}).Shared(c.fleet); got != c.want {
			t.Errorf("shared(%d) with per_pass %d and share %g = %d, want %d", c.fleet, c.perPass, c.share, got, c.want)
		}
	}
}

func TestBreaker(t *testing.T) {
	const listed = "breaker orphan sandbox:daytona/o1 sandbox:daytona/o2; "
	const fleet = "box daytona/f{01..30} running task=f{01..30}; row f{01..30} completed updated=1s; "
	ids := func(n int) (out []string) {
		for i := range n {
			out = append(out, "sandbox:daytona/o"+worldtest.Padded(i+1, len(fmt.Sprint(n))))
		}
		return out
	}
	for name, c := range map[string]struct {
		world  string
		opened []string // subjects of the breaker, nil when none is open
		since  time.Time
		do     int
	}{
		"more than ten and than 30%": {orphans(11), ids(11), worldtest.LedgerNow, 0},
		"ten of a small fleet":       {orphans(10), nil, time.Time{}, 1},
		"more than ten, exactly 30%": {
			"limits breaker=25 share=100; " + fleet + "box daytona/g{1..2} running " +
				"task=f01; " + orphans(11), nil, time.Time{}, 11},
		"more than ten, a little more": {
			"limits breaker=25 share=100; " + fleet + "box daytona/g1 running " +
				"task=f01; " + orphans(11), ids(11), worldtest.LedgerNow, 0},
		"held otherwise, it does not open": {"rule orphan mode=observe; " + orphans(11), nil, time.Time{}, 0},
		"rows alone do not open it": {
			"task t{01..15} assigned updated=1h; find t{01..15} none", nil, time.Time{}, 15},
		"open, and few are left":    {listed + fleet + orphans(2), ids(2), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and a new one joins": {listed + fleet + orphans(3), ids(3), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and one of them is healthy": {
			listed + fleet + "finding orphan sandbox:daytona/o2; " + orphans(1), ids(1), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and all are healthy": {
			listed + fleet + "finding orphan sandbox:daytona/o{1..2}; " +
				"box daytona/o{1..2} running task=f01", nil, time.Time{}, 0},
		"open, and a quick pass sees none": {
			"pass quick; " + listed + "finding orphan sandbox:daytona/o{1..2}", ids(2), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and the listing fails": {
			listed + "listing daytona failed=503; " +
				"finding orphan sandbox:daytona/o{1..2} provider=daytona", ids(2), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and all is paused meanwhile": {
			listed + fleet + "pause all; " + orphans(2), ids(2), worldtest.LedgerNow.Add(-time.Hour), 0},
		"open, and another rule is free": {
			listed + orphans(2) + "; row t1 stopped updated=1h; " +
				"box daytona/s1 running task=t1", ids(2), worldtest.LedgerNow.Add(-time.Hour), 1},
		"released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:orphan sandbox:daytona/o1 sandbox:daytona/o2", nil, time.Time{}, 2},
		"one of two is released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:orphan sandbox:daytona/o1", ids(2)[1:], worldtest.LedgerNow.Add(-time.Hour), 1},
		"another rule's is released": {
			listed + fleet + orphans(2) + "; " +
				"release breaker:errored sandbox:daytona/o1 sandbox:daytona/o2", ids(2), worldtest.LedgerNow.Add(-time.Hour), 0},
		"released, and a few new ones": {
			fleet + orphans(4) + "; release breaker:orphan sandbox:daytona/o1 sandbox:daytona/o2", nil, time.Time{}, 3},
		"released, and many new ones trip it": {
			"limits share=50; " + orphans(15) + "; " +
				"release breaker:orphan sandbox:daytona/o01 sandbox:daytona/o02", ids(15)[2:], worldtest.LedgerNow, 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			b, open := p.Breakers["orphan"]
			if open != (c.opened != nil) || !slices.Equal(b.Subjects, c.opened) || !b.OpenedAt.Equal(c.since) {
				t.Errorf("breaker = %v since %s, want %v since %s", b.Subjects, b.OpenedAt, c.opened, c.since)
			}
			if open && b.Hash != reconcile.SubjectsHash(b.Subjects) {
				t.Errorf("hash = %s, want that of the subjects", b.Hash)
			}
			done := 0
			for i := range p.Steps {
				switch s := &p.Steps[i]; {
				case len(s.HeldBy) == 0:
					done++
				case open && s.Rule == "orphan" && slices.Contains(b.Subjects, s.Subject) && !strings.Contains(s.HeldBy.String(),
					b.Hash) && !strings.Contains(s.HeldBy.String(), "pause"):
					t.Errorf("%s is held by %q, want the way to release it", s.Subject, s.HeldBy)
				}
			}
			if done != c.do {
				t.Errorf("%d steps to do, want %d: %q", done, c.do, stepLines(p))
			}
		})
	}
}

// TestBreakerOverPasses: full and quick passes take turns, and it stays open.
func TestBreakerOverPasses(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, orphans(12))
	w.S.Memory.Controls.Breakers = map[string]reconcile.Breaker{}
	hash := ""
	for pass, kind := range []reconcile.PassKind{reconcile.Full, reconcile.Quick, reconcile.Quick, reconcile.Full} {
		w.S.Kind = kind
		j, p := PlanWorld(w)
		remember(w, j, p)
		b := p.Breakers["orphan"]
		if len(b.Subjects) != 12 || !b.OpenedAt.Equal(worldtest.LedgerNow) || hash != "" && b.Hash != hash {
			t.Fatalf("pass %d (%s): breaker = %+v, want the same 12 subjects since %s", pass, kind, b, worldtest.LedgerNow)
		}
		hash = b.Hash
		w.S.Memory.Now = w.S.Memory.Now.Add(time.Minute)
	}
}
