package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	keep  = 10 * time.Minute // a quarantine of these tests
	stuck = 3 * time.Minute  // until the rules find what is wrong
)

// quarantining is a stage whose orphan is to be stopped first.
func quarantining(t testing.TB, cloud simulated.Options) *stage {
	s := openedIn(t, cloud, "orphan")
	s.remedy("orphan", reconcile.Quarantine)
	entry := s.policy.Providers[lab]
	entry.QuarantineFor = keep
	s.policy.Providers[lab] = entry
	return s
}

// pass lets minutes go by, with a pass in each.
func (s *stage) pass(d time.Duration) {
	for range int(d / time.Minute) {
		onceQuietly(s)
		time.Sleep(time.Minute)
	}
}

func (s *stage) state(id string) reconcile.SandboxState {
	b, known := s.cloud.Sandbox(id)
	if !known || b.Gone || b.Doomed {
		return reconcile.SandboxEnded
	}
	return b.State
}

// A quarantined sandbox is stopped at once and ended when its time is over, neither before
// nor when somebody uses it again.
func TestQuarantine(t *testing.T) {
	cases := map[string]struct {
		cloud  simulated.Options
		before func(*stage) // anything is done
		amid   func(*stage) // while it is in quarantine
		early  reconcile.SandboxState
		late   reconcile.SandboxState
		says   string // of the terminate
		held   bool   // nothing is begun, for it cannot be done
	}{
		"nobody misses it": {early: reconcile.SandboxStopped, late: reconcile.SandboxEnded},
		// It is left then; being an orphan still, it is found once more.
		"somebody starts it again": {early: reconcile.SandboxStopped, late: reconcile.SandboxEnded,
			amid: func(s *stage) { _, _ = s.cloud.Start("sb-orphan") }, says: "in use"},
		"a task takes it": {early: reconcile.SandboxStopped, late: reconcile.SandboxStopped,
			amid: func(s *stage) {
				s.table.put(row{Task: reconcile.Task{ID: "new", State: reconcile.TaskRunning, Sandbox: "sb-orphan",
					StartedAt: time.Now()}, beats: true})
			}, says: "task new is running"},
		"a hold comes": {early: reconcile.SandboxStopped, late: reconcile.SandboxStopped,
			amid: func(s *stage) {
				_, _ = s.ledger.Hold(s.Context(), reconcile.Hold{Target: "sandbox:sb-orphan", Author: "ana", Reason: "x"})
			}},
		"the rule goes back to observe": {early: reconcile.SandboxStopped, late: reconcile.SandboxStopped, amid: observing},
		"it was lost by others": {early: reconcile.SandboxStopped, late: reconcile.SandboxEnded,
			amid: func(s *stage) { _, _ = s.cloud.Destroy("sb-orphan") }},
		"the provider loses the stop": {early: reconcile.SandboxStopped, late: reconcile.SandboxEnded,
			before: func(s *stage) {
				s.cloud.Inject(simulated.Fault{On: simulated.Stop, Effect: simulated.NotDone, Count: 1})
			}},
		"the provider fails at first": {early: reconcile.SandboxStopped, late: reconcile.SandboxEnded,
			before: func(s *stage) {
				s.cloud.Inject(simulated.Fault{On: simulated.Stop, Effect: simulated.Answer, Status: 503, Count: 2})
			}},
		"a stop would delete it": {early: reconcile.SandboxRunning, late: reconcile.SandboxRunning,
			before: func(s *stage) { s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.Ephemeral = true }) }, held: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c.cloud.DeleteAfter = 20 * time.Second
				s := quarantining(t, c.cloud)
				if c.before != nil {
					c.before(s)
				}
				s.pass(keep / 2)
				if got := s.state("sb-orphan"); got != c.early {
					t.Errorf("at first the sandbox is %q, want %q", got, c.early)
				}
				if begun := s.open(); c.held && len(begun) > 0 {
					t.Errorf("begun is what is never done: %+v", begun)
				}
				if c.amid != nil {
					c.amid(s)
				}
				s.pass(2 * keep)
				if got := s.state("sb-orphan"); got != c.late {
					t.Errorf("in the end the sandbox is %q, want %q", got, c.late)
				}
				for i := range 4 {
					if got := s.state([]string{"sb-h1", "sb-h2", "sb-h3", "sb-h4"}[i]); got != reconcile.SandboxRunning {
						t.Errorf("a healthy sandbox is %q", got)
					}
				}
				s.saysOfEnd("sb-orphan", c.says)
			})
		})
	}
}

// saysOfEnd checks what became of a sandbox's terminate, in words.
func (s *stage) saysOfEnd(id, says string) {
	s.Helper()
	h, err := s.ledger.Subject(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	var said []string
	if len(h.Actions) > 0 {
		whole, err := s.ledger.Subject(s.Context(), h.Actions[0].Subject)
		if err != nil {
			s.Fatal(err)
		}
		h = whole
	}
	for _, e := range h.Timeline {
		if strings.HasPrefix(e.What, "terminate ") {
			said = append(said, e.What)
		}
	}
	if !strings.Contains(strings.Join(said, "; "), says) {
		s.Errorf("the ledger says of the terminate: %q, want %q", said, says)
	}
}

// While a sandbox is in quarantine nothing ends it early, and it is stopped once.
func TestQuarantineLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quarantining(t, simulated.Options{DeleteAfter: 20 * time.Second})
		s.pass(stuck)
		stopped := time.Now()
		for s.state("sb-orphan") == reconcile.SandboxStopped && time.Since(stopped) < time.Hour {
			s.pass(time.Minute)
		}
		if lasted := time.Since(stopped); lasted < keep-stuck || lasted > keep+2*time.Minute {
			t.Errorf("the quarantine lasted about %s, want about %s", lasted, keep)
		}
		if n := s.calls(simulated.Stop)["sb-orphan"]; n != 1 {
			t.Errorf("the sandbox was stopped %d times, want 1", n)
		}
	})
}

// Where the provider can neither stop nor pause, a quarantine is held, and never replaced by
// anything harsher.
func TestQuarantineWhereNobodyCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quarantining(t, simulated.Options{})
		k := s.keeper("once", &life{})
		k.Providers[lab] = struct{ reconcile.Provider }{k.Providers[lab]}
		for pass := range 6 {
			if pass == 3 {
				s.remedy("orphan", reconcile.Stop)
				k.Policy = s.policy
			}
			r, err := k.Once(t.Context(), reconcile.Full, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range r.Plan.Steps {
				if !strings.Contains(step.HeldBy.String(), "quarantine: lab cannot stop or pause") {
					t.Errorf("step %s of %s is held by %q", step.Step, step.Sandbox, step.HeldBy)
				}
			}
			time.Sleep(time.Minute)
		}
		if got := s.state("sb-orphan"); got != reconcile.SandboxRunning {
			t.Errorf("the sandbox is %q, want it untouched", got)
		}
	})
}

// A restore gives back what is still as the quarantine left it, and nothing else.
func TestRestore(t *testing.T) {
	cases := map[string]struct {
		amid    func(*stage)
		row     reconcile.TaskState
		sandbox reconcile.SandboxState
	}{
		"nothing moved": {row: reconcile.TaskRunning, sandbox: reconcile.SandboxRunning},
		"somebody changed the row": {row: reconcile.TaskFailed, sandbox: reconcile.SandboxRunning,
			amid: func(s *stage) { s.table.change("broken", func(r *row) { r.Error = "seen by support" }) }},
		"the platform ran it again": {row: reconcile.TaskRunning, sandbox: reconcile.SandboxRunning,
			amid: func(s *stage) {
				s.table.change("broken", func(r *row) { r.State, r.Sandbox, r.Error = reconcile.TaskRunning, "sb-other", "" })
			}},
		"the sandbox is gone": {row: reconcile.TaskFailed, sandbox: reconcile.SandboxEnded,
			amid: func(s *stage) { _, _ = s.cloud.Destroy("sb-broken") }},
		"it runs already": {row: reconcile.TaskRunning, sandbox: reconcile.SandboxRunning,
			amid: func(s *stage) { _, _ = s.cloud.Start("sb-broken") }},
		"a pause": {row: reconcile.TaskFailed, sandbox: reconcile.SandboxStopped,
			amid: func(s *stage) {
				_ = s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "x"})
			}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openedToRestore(t)
				if c.amid != nil {
					c.amid(s)
				}
				s.pass(5 * time.Minute)
				if r := s.table.row("broken"); r.State != c.row {
					t.Errorf("the row is %s (%s), want %s", r.State, r.Error, c.row)
				}
				if r := s.table.row("broken"); name == "the platform ran it again" && r.Sandbox != "sb-other" {
					t.Errorf("the row was set back although it had moved: sandbox %s", r.Sandbox)
				}
				if got := s.state("sb-broken"); got != c.sandbox {
					t.Errorf("the sandbox is %q, want %q", got, c.sandbox)
				}
			})
		})
	}
}

// What was taken back cannot be ended any more by the quarantine, and what was ended cannot
// be taken back.
func TestRestoreTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openedToRestore(t)
		s.pass(2 * time.Minute)
		h, err := s.ledger.Subject(t.Context(), "task:broken")
		if err != nil {
			t.Fatal(err)
		}
		if _, withdraw := reconcile.AskRestore(h.Actions); len(withdraw) != 0 {
			t.Errorf("%v could be withdrawn once more", withdraw)
		}
		s.pass(2 * time.Hour)
		if got := s.state("sb-broken"); got != reconcile.SandboxRunning {
			t.Errorf("after the time of the quarantine the restored sandbox is %q", got)
		}
	})
}

// An inactive template is activated where the rule may act, and only an inactive one.
func TestActivate(t *testing.T) {
	cases := map[string]struct {
		state reconcile.TemplateState
		mode  reconcile.Mode
		fault simulated.Fault
		want  int // calls
		after reconcile.TemplateState
	}{
		"inactive":           {reconcile.TemplateInactive, reconcile.Enforce, simulated.Fault{}, 1, reconcile.TemplateActive},
		"inactive, observed": {reconcile.TemplateInactive, reconcile.Observe, simulated.Fault{}, 0, reconcile.TemplateInactive},
		"failed":             {reconcile.TemplateFailed, reconcile.Enforce, simulated.Fault{}, 0, reconcile.TemplateFailed},
		"active":             {reconcile.TemplateActive, reconcile.Enforce, simulated.Fault{}, 0, reconcile.TemplateActive},
		"it fails at first": {reconcile.TemplateInactive, reconcile.Enforce,
			simulated.Fault{On: simulated.Activate, Effect: simulated.Answer, Status: 503, Count: 2}, 3, reconcile.TemplateActive},
		"the request is lost": {reconcile.TemplateInactive, reconcile.Enforce,
			simulated.Fault{On: simulated.Activate, Effect: simulated.NotDone, Count: 1}, 2, reconcile.TemplateActive},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openedIn(t, simulated.Options{ActivateAfter: 90 * time.Second})
				s.policy.Rules["template-unusable"] = reconcile.RulePolicy{Mode: c.mode, Rollout: 100, Remedy: reconcile.Activate}
				entry := s.policy.Providers[lab]
				entry.Templates = []string{"light"}
				s.policy.Providers[lab] = entry
				s.cloud.PutTemplate(simulated.Template{Name: "light", State: c.state, LastUsedAt: time.Now()})
				if c.fault.On != "" {
					s.cloud.Inject(c.fault)
				}
				s.pass(15 * time.Minute)
				if got := s.calls(simulated.Activate)["light"]; got != c.want {
					t.Errorf("%d activations were asked for, want %d", got, c.want)
				}
				if got, err := s.cloud.TemplateOf("light"); err != nil || got.State != c.after {
					t.Errorf("the template is %q, %v, want %q", got.State, err, c.after)
				}
				if open := s.open(); len(open) > 0 && c.mode == reconcile.Enforce {
					t.Errorf("still open: %+v", open)
				}
			})
		})
	}
}

// A template that changed since the pass saw it is left as it is.
func TestActivateLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := openedIn(t, simulated.Options{}), &life{}
		s.policy.Rules["template-unusable"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Remedy: reconcile.Activate}
		entry := s.policy.Providers[lab]
		entry.Templates = []string{"light"}
		s.policy.Providers[lab] = entry
		s.cloud.PutTemplate(simulated.Template{Name: "light", State: reconcile.TemplateInactive})
		l.before = func(_ int, call string) {
			if call == "Claim" {
				s.cloud.PutTemplate(simulated.Template{Name: "light", State: reconcile.TemplateFailed})
			}
		}
		r, err := s.keeper("once", l).Once(t.Context(), reconcile.Full, time.Second)
		if err != nil || len(r.Done) != 1 {
			t.Fatalf("Once = %d actions, %v, want the one", len(r.Done), err)
		}
		for _, a := range r.Done {
			if a.Outcome != reconcile.OutcomeWithdrawn {
				t.Errorf("the action is %s (%s), want it withdrawn", a.Outcome, a.Detail)
			}
		}
		if n := len(s.calls(simulated.Activate)); n != 0 {
			t.Error("a failed template was activated")
		}
	})
}

// TestStop: a sandbox that is only to be stopped is, is confirmed, and is there for good: no end follows, also where what
// is at rest is ended. One that is started again is stopped again.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		atRest, report bool
		amid           func(*stage)
		late           reconcile.SandboxState
	}{
		"what rests is left":  {late: reconcile.SandboxStopped},
		"what rests is ended": {atRest: true, late: reconcile.SandboxStopped},
		"somebody starts it again": {late: reconcile.SandboxStopped,
			amid: func(s *stage) { _, _ = s.cloud.Start("sb-orphan") }},
		"the rule only reports by then": {report: true, late: reconcile.SandboxRunning,
			amid: func(s *stage) { _, _ = s.cloud.Start("sb-orphan") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := quarantining(t, simulated.Options{})
				s.remedy("orphan", reconcile.Stop)
				entry := s.policy.Providers[lab]
				entry.EndsAtRest = c.atRest
				s.policy.Providers[lab] = entry
				s.pass(stuck + 3*time.Minute)
				if got := s.state("sb-orphan"); got != reconcile.SandboxStopped {
					t.Fatalf("the sandbox is %q, want it stopped", got)
				}
				if c.report {
					s.remedy("orphan", reconcile.Report)
				}
				if c.amid != nil {
					c.amid(s)
				}
				s.pass(time.Hour)
				if got := s.state("sb-orphan"); got != c.late {
					t.Errorf("an hour later the sandbox is %q, want %q", got, c.late)
				}
				h, err := s.ledger.Subject(t.Context(), "sandbox:"+lab+"/sb-orphan")
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range h.Actions {
					if a.Step != reconcile.StepQuarantine || a.Outcome != reconcile.OutcomeDone {
						t.Errorf("%s is %s, want nothing but stops that were confirmed", a.Step, a.Outcome)
					}
				}
				if stops := len(h.Actions); stops > 2 || c.amid == nil && stops != 1 {
					t.Errorf("%d stops: what stands still was asked for again", stops)
				}
			})
		})
	}
}
