package run_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What a person asked for is done within an hour, or not at all: later nobody knows whether
// the person would still ask for it.
func TestWishesExpire(t *testing.T) {
	none := func(*stage) {}
	pause := func(s *stage, d time.Duration) (over func(*stage)) {
		s.control(s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "no, wait",
			Until: time.Now().Add(d)}))
		return none
	}
	hold := func(s *stage, d time.Duration) (over func(*stage)) { // by a label, which only the last look sees
		_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: "label:team=red", Author: "ana", Reason: "no, wait",
			Until: time.Now().Add(d)})
		s.control(err)
		return none
	}
	busy := func(s *stage, _ time.Duration) (over func(*stage)) {
		s.policy.Limits.PerHour = 0
		return func(s *stage) { s.policy.Limits.PerHour = 20 }
	}
	blind := func(s *stage, d time.Duration) (over func(*stage)) {
		s.cloud.Inject(simulated.Fault{On: simulated.Get, ID: "sb-asked", Effect: simulated.Answer, Status: 503})
		return pause(s, d)
	}
	lost := func(s *stage, _ time.Duration) (over func(*stage)) {
		lift := s.cloud.Inject(simulated.Fault{On: simulated.Delete, ID: "sb-asked", Effect: simulated.NotDone})
		return func(*stage) { lift() }
	}
	cases := map[string]struct {
		waits func(*stage, time.Duration) (over func(*stage))
		long  time.Duration
		ended bool
	}{
		"a pause of less than an hour":          {pause, 59 * time.Minute, true},
		"a pause of more":                       {pause, 61 * time.Minute, false},
		"a pause without an end in sight":       {pause, 24 * time.Hour, false},
		"that, and nobody can look":             {blind, 24 * time.Hour, false},
		"a hold of less than an hour":           {hold, 50 * time.Minute, true},
		"a hold of more":                        {hold, 61 * time.Minute, false},
		"the hour's budget for less":            {busy, 59 * time.Minute, true},
		"the hour's budget for more":            {busy, 61 * time.Minute, false},
		"the hour's budget all the time":        {busy, 24 * time.Hour, false},
		"a provider that loses it for a while":  {lost, 20 * time.Minute, true},
		"a provider that loses it all the time": {lost, 24 * time.Hour, false},
	}
	for name, c := range cases {
		for way, work := range map[string]func(*stage){"once": onceQuietly, "daemon": daemonQuietly} {
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := opened(t)
					s.cloud.Put(simulated.Sandbox{ID: "sb-asked", CreatedAt: time.Now(),
						Labels: map[string]string{"app": "ours", "team": "red", "task": "h1"}})
					over := c.waits(s, c.long)
					a := reconcile.AskTerminate(reconcile.RuleEmergency, labRef("sb-asked"), "", reconcile.AskOptions{Running: true})
					s.ask(a)
					for began := time.Now(); time.Since(began) < 150*time.Minute; {
						if time.Since(began) >= c.long {
							over(s)
						}
						work(s)
						time.Sleep(time.Minute)
					}
					if got := s.state("sb-asked") == reconcile.SandboxEnded; got != c.ended {
						t.Errorf("it was ended: %v, want %v", got, c.ended)
					}
					got := s.became(a)
					says := map[bool]string{true: "", false: "by ana"}[c.ended]
					if !got.Outcome.Closed() || !strings.Contains(got.Detail, says) {
						t.Errorf("the action is %s (%s), want it closed and why", got.Outcome, got.Detail)
					}
				})
			})
		}
	}
}

func (s *stage) control(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// A request that is too old is given back: it takes nothing from the hour of others.
func TestAnExpiredWishCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.lonely("sb-1")
		s.lonely("sb-2")
		observing(s)
		s.policy.Limits.PerHour = 1
		s.control(s.ledger.Pause(t.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "x",
			Until: time.Now().Add(2 * time.Hour)}))
		s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-1"), "", reconcile.AskOptions{}))
		time.Sleep(2 * time.Hour)
		s.watch(1) // after so long a silence
		s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-2"), "", reconcile.AskOptions{}))
		s.pass(2 * time.Minute)
		if got := strings.Join(s.deletes(), ", "); got != "sb-2" {
			t.Errorf("ended: %s, want sb-2 alone", got)
		}
	})
}

// A person's request takes the place of what a pass planned and may not do, or may not do yet.
func TestAskInPlaceOfAPass(t *testing.T) {
	cases := map[string]struct {
		world func(*stage)
		new   bool
		by    string
	}{
		"a pass planned it, and its rule observes by now": {func(s *stage) {
			_, err := s.daemon("planner", &life{}).Pass(s.Context(), reconcile.Full, 0)
			s.control(err)
			observing(s)
		}, true, reconcile.RuleOperator},
		"it waits for the end of its quarantine": {func(s *stage) {
			s.remedy("orphan", reconcile.Quarantine)
			entry := s.policy.Providers[lab]
			entry.QuarantineFor = time.Hour
			s.policy.Providers[lab] = entry
			s.pass(2 * time.Minute)
		}, true, reconcile.RuleOperator},
		"somebody asked for it already": {func(s *stage) {
			s.ask(reconcile.AskTerminate(reconcile.RuleEmergency, labRef("sb-orphan"), "", reconcile.AskOptions{}))
		}, false, reconcile.RuleEmergency},
		"it was refused, and its rule is paused by now": {func(s *stage) {
			s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Refuse = "the sandbox is protected" })
			s.once()
			s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Refuse = "" })
			s.control(s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "rule:orphan", Author: "ana", Reason: "x"}))
		}, true, reconcile.RuleOperator},
		"the provider took it": {func(s *stage) {
			s.cloud.Inject(simulated.Fault{On: simulated.Delete, Effect: simulated.NotDone, Count: 1})
			s.once()
			time.Sleep(2 * time.Minute)
		}, false, "orphan"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, "orphan")
				c.world(s)
				before := len(s.open())
				r, err := s.keeper("look", &life{}).Plan(t.Context(), reconcile.Full)
				s.control(err)
				preview := r.Ending(r.Decision("sb-orphan", reconcile.History{}), "sb-orphan", reconcile.AskOptions{})
				if got := len(preview.End) == 1; got != c.new {
					t.Errorf("the preview ends %v and leaves %v", preview.End, preview.Left)
				}
				asked, err := s.ledger.Ask(t.Context(), ana, []reconcile.Action{reconcile.AskTerminate(reconcile.RuleOperator,
					labRef("sb-orphan"), "", reconcile.AskOptions{})}, nil)
				s.control(err)
				if got := len(asked) == 1; got != c.new || len(s.open()) != max(before, 1) {
					t.Errorf("%d are new, %d open instead of %d", len(asked), len(s.open()), before)
				}
				s.pass(2 * time.Minute)
				h, err := s.ledger.Subject(t.Context(), "sb-orphan")
				s.control(err)
				for _, a := range h.Actions {
					if a.Outcome == reconcile.OutcomeConfirmed && a.Rule != c.by {
						t.Errorf("it was ended by %s, want %s", a.Rule, c.by)
					}
				}
				if got := s.state("sb-orphan"); got != reconcile.SandboxEnded {
					t.Errorf("the sandbox is %q, want it ended", got)
				}
			})
		})
	}
}

// A restore takes back also a stop that the provider took and did not do, or not yet: nobody
// stops the sandbox once more behind the back of who restored it.
func TestRestoreOfAStopThatIsNotSeen(t *testing.T) {
	cases := map[string]func(s *stage, id string){
		"it is lost": func(*stage, string) {},
		"it comes late": func(s *stage, id string) {
			time.AfterFunc(time.Minute, func() { _, _ = s.cloud.Halt(id) })
		},
	}
	for name, happens := range cases {
		for _, id := range []string{"sb-orphan", "task:broken"} {
			t.Run(name+", "+id, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := opened(t, "orphan", "broken")
					s.remedy("orphan", reconcile.Quarantine)
					s.remedy("idle-broken", reconcile.Quarantine)
					entry := s.policy.Providers[lab]
					entry.QuarantineFor = time.Hour
					s.policy.Providers[lab] = entry
					box := "sb-" + strings.TrimPrefix(strings.TrimPrefix(id, "sb-"), "task:")
					s.cloud.Inject(simulated.Fault{On: simulated.Stop, ID: box, Effect: simulated.NotDone, Count: 1})
					for n := 0; s.calls(simulated.Stop)[box] == 0 && n < 40; n++ {
						s.once()
						time.Sleep(10 * time.Second)
					}
					if got := s.openOn(box); got.Step != reconcile.StepQuarantine || got.Outcome != reconcile.OutcomeAccepted {
						t.Fatalf("%s is %s, want the stop accepted", got.Step, got.Outcome)
					}
					s.cloud.Change(box, func(b *simulated.Sandbox) { b.Exec = simulated.Healthy })
					happens(s, box)
					s.undo(id)
					for _, target := range []string{"task:broken", "sandbox:" + box} {
						_, err := s.ledger.Hold(t.Context(), reconcile.Hold{Target: target, Author: "ana", Reason: "x"})
						s.control(err)
					}
					s.pass(20 * time.Minute)
					if got := s.state(box); got != reconcile.SandboxRunning {
						t.Errorf("the restored sandbox is %q", got)
					}
					if n := s.calls(simulated.Stop)[box]; n != 1 {
						t.Errorf("it was stopped %d times, want once", n)
					}
					if r := s.table.row("broken"); id == "task:broken" && r.State != reconcile.TaskRunning {
						t.Errorf("its task is %s, want it running again", r.State)
					}
					for _, a := range s.open() {
						if a.Sandbox == box || a.Task == "broken" && id == "task:broken" {
							t.Errorf("still open: %s of %s %s (%s)", a.Step, a.Subject, a.Outcome, a.Detail)
						}
					}
				})
			})
		}
	}
}

// An action makes room for a person's only while nothing of it has reached the outside.
func TestGivesWay(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		a    reconcile.Action
		want bool
	}{
		"a pass planned it":  {reconcile.Action{Rule: "orphan"}, true},
		"it is another step": {reconcile.Action{Rule: "orphan", Step: reconcile.StepQuarantine}, false},
		"somebody is at it": {reconcile.Action{Rule: "orphan", ClaimedBy: "one", ClaimedAt: now, Attempts: 1,
			ClaimEnds: now.Add(1)}, false},
		"somebody was, and died": {reconcile.Action{Rule: "orphan", ClaimedBy: "one", ClaimedAt: now, Attempts: 1,
			ClaimEnds: now}, true},
		"it was tried":                   {reconcile.Action{Rule: "orphan", ClaimedAt: now, Attempts: 1}, true},
		"the provider took it":           {reconcile.Action{Rule: "orphan", Outcome: reconcile.OutcomeAccepted}, false},
		"a person asked for it":          {reconcile.Action{Rule: reconcile.RuleOperator, PlannedAt: now.Add(-time.Hour)}, false},
		"a person did, too long ago":     {reconcile.Action{Rule: reconcile.RuleOperator, PlannedAt: now.Add(-time.Hour - 1)}, true},
		"a person did, in a minute":      {reconcile.Action{Rule: reconcile.RuleOperator, PlannedAt: now.Add(time.Minute)}, false},
		"a pass planned it long ago":     {reconcile.Action{Rule: "orphan", PlannedAt: now.Add(-math.MaxInt64)}, true},
		"a person did long ago and more": {reconcile.Action{Rule: reconcile.RuleEmergency, PlannedAt: now.Add(-2 * time.Hour), Attempts: 1}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.a.Step == "" {
				c.a.Step = reconcile.StepTerminate
			}
			if c.a.Outcome == "" {
				c.a.Outcome = reconcile.OutcomePending
			}
			if got := c.a.GivesWay(now); got != c.want {
				t.Errorf("GivesWay = %v, want %v", got, c.want)
			}
		})
	}
}
