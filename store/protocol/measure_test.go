package protocol

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestGone(t *testing.T) {
	end := reconcile.Action{
		Rule: "orphan", Provider: "daytona", Sandbox: "sb", Step: reconcile.StepTerminate,
		Outcome: reconcile.OutcomeConfirmed, FirstActed: noon, ActedAt: noon.Add(time.Minute), ClosedAt: noon.Add(90 * time.Second),
	}
	within := map[string]int64{}
	for _, c := range Gone(end) {
		if c.Rule != "orphan" || c.Provider != "daytona" {
			t.Errorf("counted for %s at %s, want orphan at daytona", c.Rule, c.Provider)
		}
		within[c.Name+" "+c.What] = c.Value
	}
	want := map[string]int64{
		"gone_seconds_bucket 120": 1, "gone_seconds_bucket 300": 1, "gone_seconds_bucket +Inf": 1,
		"gone_seconds_count ": 1, "gone_seconds_milli_sum ": 90_000,
	}
	if diff := cmp.Diff(want, within); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*reconcile.Action){
		"never asked for":    func(a *reconcile.Action) { a.FirstActed = time.Time{} },
		"only accepted":      func(a *reconcile.Action) { a.Outcome = reconcile.OutcomeAccepted },
		"withdrawn":          func(a *reconcile.Action) { a.Outcome = reconcile.OutcomeWithdrawn },
		"a write to the row": func(a *reconcile.Action) { a.Step, a.Sandbox = reconcile.StepFail, "" },
	} {
		a := end
		change(&a)
		if got := Gone(a); len(got) != 0 {
			t.Errorf("%s: counted %v, want nothing", name, got)
		}
	}
}

func TestNewestAndCounts(t *testing.T) {
	pass := func(id int64, kind reconcile.PassKind, complete, ended bool) reconcile.PassSeen {
		p := reconcile.PassSeen{ID: id, Kind: kind, Complete: complete, Counts: map[string]int{
			"tasks:running": int(id), "owned:daytona": int(id),
		}}
		if ended {
			p.EndedAt = noon.Add(time.Duration(id) * time.Minute)
		}
		return p
	}
	for name, tc := range map[string]struct {
		passes       []reconcile.PassSeen
		quick, full  int64
		tasks, owned int
	}{
		"none at all": {},
		"one full pass stands for both": {
			[]reconcile.PassSeen{pass(3, reconcile.Full, true, true)}, 3, 3, 3, 3},
		"the newer one, in whatever order they come": {
			[]reconcile.PassSeen{pass(5, reconcile.Quick, true, true), pass(3, reconcile.Full, true, true),
				pass(4, reconcile.Quick, true, true)}, 5, 3, 5, 3},
		"a quick pass alone lists nothing": {
			[]reconcile.PassSeen{pass(1, reconcile.Quick, true, true)}, 1, 0, 1, 0},
		"one that is not complete counts, but is not the last complete one": {
			[]reconcile.PassSeen{pass(3, reconcile.Full, true, true), pass(4, reconcile.Full, false, true)}, 3, 3, 4, 4},
		"one that never ended is nothing": {
			[]reconcile.PassSeen{pass(3, reconcile.Full, true, true), pass(4, reconcile.Full, false, false)}, 3, 3, 3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			newest, counts := Newest(tc.passes), Counts(tc.passes)
			if newest[reconcile.Quick].ID != tc.quick || newest[reconcile.Full].ID != tc.full {
				t.Errorf("Newest = %v, want passes %d and %d", newest, tc.quick, tc.full)
			}
			if counts["tasks:running"] != tc.tasks || counts["owned:daytona"] != tc.owned {
				t.Errorf("Counts = %v, want %d tasks, %d owned", counts, tc.tasks, tc.owned)
			}
		})
	}
}
