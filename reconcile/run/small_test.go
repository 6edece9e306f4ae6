package run_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// refuseLists has the provider answer listings with a status, until it is lifted.
func refuseLists(status int) func(*stage) func() {
	return func(s *stage) func() {
		return s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: status})
	}
}

// TestQuickPassesOfASmallFleetListEverything: where whole listings cost next to nothing the passes that are due as quick
// ones are full. Where they may hold up others, fail or were refused, they look at suspects.
func TestQuickPassesOfASmallFleetListEverything(t *testing.T) {
	const quick, full = reconcile.Quick, reconcile.Full
	rate := func(calls float64) func(*stage) {
		return func(s *stage) {
			p := s.policy.Providers[lab]
			p.Rate = calls
			s.policy.Providers[lab] = p
		}
	}
	for name, c := range map[string]struct {
		world   func(*stage)
		sieved  int
		between func(*stage) func() // after the first full pass, until before the last quick ones
		want    []reconcile.PassKind
	}{
		"as it comes":                      {want: []reconcile.PassKind{full, full, full, full}},
		"schedule.small is 0":              {world: func(s *stage) { s.policy.Small = 0 }, want: []reconcile.PassKind{quick, quick, quick, quick}},
		"the rate has room for it":         {world: rate(1), want: []reconcile.PassKind{full, full, full, full}},
		"the rate has room for little":     {world: rate(0.6), want: []reconcile.PassKind{quick, quick, quick, quick}},
		"many sandboxes that are few":      {world: crowd(490), want: []reconcile.PassKind{full, full, full, full}},
		"more calls than may be":           {world: calls(2), want: []reconcile.PassKind{quick, quick, quick, quick}},
		"ten more":                         {world: crowd(500), want: []reconcile.PassKind{quick, quick, quick, quick}},
		"so many rows that plain are left": {sieved: 1, want: []reconcile.PassKind{quick, quick, quick, quick}},
		"a listing fails":                  {between: refuseLists(503), want: []reconcile.PassKind{full, quick, quick, quick}},
		"a listing takes 3 s": {world: slowLists(3 * time.Second),
			want: []reconcile.PassKind{full, full, full, full}},
		"a listing takes longer": {world: slowLists(3*time.Second + time.Millisecond),
			want: []reconcile.PassKind{quick, quick, quick, quick}},
		"the credential is refused": {between: refuseLists(401), want: []reconcile.PassKind{full, quick, quick, quick}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.put(row{beats: true}, "one")
				s.policy.Small = 5
				if c.world != nil {
					c.world(s)
				}
				d := s.daemon("first", &life{})
				d.Small, d.Sieved = new(run.Small), c.sieved
				made := func(kind reconcile.PassKind, apart time.Duration, pushed ...reconcile.Ref) *run.Result {
					t.Helper()
					time.Sleep(15 * time.Second)
					r, err := d.Pass(s.Context(), kind, apart, pushed...)
					if err != nil || r == nil {
						t.Fatalf("no %s pass: %v", kind, err)
					}
					seen, err := s.ledger.LastPasses(s.Context(), 1)
					if err != nil || seen[0].Kind != kind || r.Due != kind {
						t.Errorf("a %s pass is on record as %v: %v", kind, seen, err)
					}
					_, counted := seen[0].Counts["sandboxes:lab:running"]
					if listed := seen[0].Counts[reconcile.CountListed] > 0; listed != (r.Kind != kind) || counted != (kind == full) {
						t.Errorf("a pass that was due as %s and made as %s has on record %v", kind, r.Kind, seen[0].Counts)
					}
					return r
				}
				if r := made(quick, time.Second); r.Kind != quick {
					t.Error("a quick pass lists everything before anybody knows what that costs")
				}
				made(full, time.Second)
				lift := func() {}
				if c.between != nil {
					lift = c.between(s)
				}
				var got []reconcile.PassKind
				for range c.want {
					got = append(got, made(quick, time.Second).Kind)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("passes that are due as quick ones are %v, want %v", got, c.want)
				}
				lift()
				time.Sleep(5 * time.Minute) // a refused credential is left alone for so long
				made(full, time.Second)
				if c.between != nil && made(quick, time.Second).Kind == full {
					t.Error("after a listing that failed a single whole one is enough")
				}
				made(full, time.Second)
				again := full
				if c.want[0] == quick {
					again = quick
				}
				if r := made(quick, time.Second); r.Kind != again {
					t.Errorf("after a whole listing it is %s, want %s", r.Kind, again)
				}
				if made(quick, 0).Kind != quick || made(quick, time.Second, reconcile.Ref{Provider: lab, ID: "sb-one"}).Kind != quick {
					t.Error("a quick pass that somebody asked for is not quick")
				}
			})
		})
	}
}

// crowd are so many sandboxes of others, which may take many calls.
func crowd(n int) func(*stage) {
	return func(s *stage) {
		s.policy.Small = 20
		for i := range n {
			s.cloud.Put(simulated.Sandbox{ID: fmt.Sprintf("sb-other-%d", i), CreatedAt: ago(time.Hour)})
		}
	}
}

// calls are so many that a listing may take.
func calls(n int) func(*stage) {
	return func(s *stage) {
		crowd(490)(s)
		s.policy.Small = n
	}
}

// slowLists has each listing take so long.
func slowLists(d time.Duration) func(*stage) {
	return func(s *stage) { s.cloud.Inject(simulated.Fault{On: simulated.List, Delay: d}) }
}

// TestARefusedQuickListingFreezesSeldom: where a provider bears the listings of full passes alone, the quick passes of a
// small fleet leave it in peace for longer each time, so that an orphan comes due.
func TestARefusedQuickListingFreezesSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.policy.Small = 5
		d := s.daemon("first", &life{})
		d.Small = new(run.Small)
		s.lonely("sb-orphan")
		refused, due := 0, false
		for range 30 {
			for i := range 8 {
				kind, lift := reconcile.Quick, func() {}
				if i == 0 {
					kind = reconcile.Full
				} else {
					lift = refuseLists(429)(s)
				}
				r, err := d.Pass(s.Context(), kind, time.Second)
				if lift(); err != nil || r == nil {
					t.Fatalf("no %s pass: %v", kind, err)
				}
				if kind == reconcile.Quick && r.Kind == reconcile.Full {
					refused++
				}
				due = due || slices.ContainsFunc(r.Plan.Findings, func(f reconcile.Finding) bool { return f.Rule == "orphan" && f.Due })
				time.Sleep(15 * time.Second)
			}
		}
		if refused < 2 || refused > 4 || !due {
			t.Errorf("%d listings of quick passes were refused in an hour, want 2 to 4; the orphan is due: %v", refused, due)
		}
	})
}
