package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// lingering is a stage with a finished task whose sandbox has been quarantined.
func lingering(t testing.TB) *stage {
	t.Helper()
	s := openedIn(t, simulated.Options{DeleteAfter: 20 * time.Second})
	s.over("x", reconcile.TaskCompleted)
	s.remedy("finished-lingering", reconcile.Quarantine)
	entry := s.policy.Providers[lab]
	entry.QuarantineFor = 20 * time.Minute
	s.policy.Providers[lab] = entry
	s.watch(1)
	s.pass(3 * time.Minute)
	if got := s.state("sb-x"); got != reconcile.SandboxStopped {
		t.Fatalf("the sandbox is %q, want it in quarantine", got)
	}
	return s
}

// A sandbox that was woken, used and put to rest again while it was in quarantine is not
// ended by that quarantine: the rules find it anew, by its new clocks.
func TestQuarantineOfWhatWasUsedMeanwhile(t *testing.T) {
	cases := map[string]struct {
		used func(*stage)
		rest time.Duration // from then until the end of the test
		late reconcile.SandboxState
		says string
	}{
		"nobody used it": {func(s *stage) { s.pass(10 * time.Minute) }, 12 * time.Minute, reconcile.SandboxEnded, "confirmed"},
		"its user continued and wants it kept": {func(s *stage) {
			_, _ = s.cloud.Start("sb-x")
			s.goesOn("x")
			s.pass(10 * time.Minute)
			s.table.change("x", func(r *row) {
				r.State, r.beats, r.KeepAliveUntil = reconcile.TaskCompleted, false, time.Now().Add(3*time.Hour)
			})
			_, _ = s.cloud.Halt("sb-x")
		}, time.Hour, reconcile.SandboxStopped, "task x is running"},
		"somebody looked into it": {func(s *stage) {
			_, _ = s.cloud.Start("sb-x")
			s.pass(6 * time.Minute)
			_, _ = s.cloud.Halt("sb-x")
		}, 15 * time.Minute, reconcile.SandboxStopped, "in use"},
		"the row alone wants it kept": {func(s *stage) {
			s.table.change("x", func(r *row) { r.KeepAliveUntil = time.Now().Add(3 * time.Hour) })
		}, time.Hour, reconcile.SandboxStopped, "keeps it alive"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := lingering(t)
				c.used(s)
				s.pass(c.rest)
				if got := s.state("sb-x"); got != c.late {
					t.Errorf("in the end the sandbox is %q, want %q", got, c.late)
				}
				s.saysOfEnd("sb-x", c.says)
			})
		})
	}
}

// The end of a quarantine is a decision of its own: what holds a first step holds it, for as
// long as that lasts.
func TestQuarantineEndIsHeld(t *testing.T) {
	cases := map[string]struct {
		brk, mend func(*stage)
		waits     string
	}{
		"the listing fails": {deafList, func(s *stage) { s.cloud.Fix() }, "listing-untrusted lab"},
		"the task table is emptied": {
			func(s *stage) { s.empty() }, func(s *stage) { s.fill() }, "tasks-untrusted"},
		"the rollout goes back": {
			func(s *stage) { s.change("orphan", func(r *reconcile.RulePolicy) { r.Rollout = 0 }) },
			func(s *stage) { s.change("orphan", func(r *reconcile.RulePolicy) { r.Rollout = 100 }) }, "rollout: 0%"},
		"the rule only reports": {
			func(s *stage) { s.remedy("orphan", reconcile.Report) },
			func(s *stage) { s.remedy("orphan", reconcile.Quarantine) }, "only reports"},
		"the rule is off": {
			func(s *stage) { s.change("orphan", func(r *reconcile.RulePolicy) { r.Mode = reconcile.Off }) },
			func(s *stage) { s.change("orphan", func(r *reconcile.RulePolicy) { r.Mode = reconcile.Enforce }) }, "off"},
	}
	for name, c := range cases {
		for way, work := range map[string]func(*stage){"once": onceQuietly, "daemon": daemonQuietly} {
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := quarantining(t, simulated.Options{DeleteAfter: 20 * time.Second})
					s.pass(stuck)
					c.brk(s)
					for range int((keep + 5*time.Minute) / time.Minute) {
						work(s)
						time.Sleep(time.Minute)
					}
					if got := s.state("sb-orphan"); got != reconcile.SandboxStopped {
						t.Fatalf("the sandbox is %q, want it left in quarantine", got)
					}
					if n := s.calls(simulated.Stop)["sb-orphan"]; n != 1 {
						t.Errorf("it was stopped %d times, want once", n)
					}
					s.waits("sb-orphan", c.waits)
					c.mend(s)
					s.pass(5 * time.Minute)
					if got := s.state("sb-orphan"); got != reconcile.SandboxEnded {
						t.Errorf("when all is well again the sandbox is %q, want it ended", got)
					}
				})
			})
		}
	}
}

func (s *stage) change(rule string, change func(*reconcile.RulePolicy)) {
	p := s.policy.Rules[rule]
	change(&p)
	s.policy.Rules[rule] = p
}

// empty is what a restore of a wrong database does; fill brings the right one back.
func (s *stage) empty() {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	s.table.lost, s.table.rows = s.table.rows, map[string]*row{}
}

func (s *stage) fill() {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	s.table.rows = s.table.lost
}

// waits checks what a pass says keeps the open action on a sandbox waiting.
func (s *stage) waits(id, why string) {
	s.Helper()
	r, err := s.keeper("once", &life{}).Once(s.Context(), reconcile.Full, time.Second)
	if r == nil {
		s.Fatal(err)
	}
	for _, a := range s.open() {
		if a.Sandbox == id && !strings.Contains(r.Waits[a.ID].String(), why) {
			s.Errorf("%s waits because %q, want %q", a.Step, r.Waits[a.ID], why)
		}
	}
}

// What happens between the pass and the end of a quarantine counts as well.
func TestQuarantineEndLooksLast(t *testing.T) {
	cases := map[string]struct {
		happens func(*stage)
		late    reconcile.SandboxState
	}{
		"nothing":           {func(*stage) {}, reconcile.SandboxEnded},
		"somebody wakes it": {func(s *stage) { _, _ = s.cloud.Start("sb-orphan") }, reconcile.SandboxRunning},
		"a live task takes it": {func(s *stage) {
			s.table.put(row{Task: reconcile.Task{ID: "odd", Sandbox: "sb-orphan", State: reconcile.TaskPending}})
		}, reconcile.SandboxStopped},
		"a row of a status that nobody maps names it": {func(s *stage) {
			s.table.put(row{Task: reconcile.Task{ID: "odd", Sandbox: "sb-orphan"}})
		}, reconcile.SandboxStopped},
		"a row that is over names it": {func(s *stage) {
			s.table.put(row{Task: reconcile.Task{ID: "odd", Sandbox: "sb-orphan", State: reconcile.TaskCompleted}})
		}, reconcile.SandboxEnded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := quarantining(t, simulated.Options{DeleteAfter: 20 * time.Second})
				s.pass(stuck)
				time.Sleep(keep)
				l, happened := &life{}, false
				l.before = func(_ int, call string) {
					if call == "Claim" && !happened {
						happened = true
						c.happens(s)
					}
				}
				if _, err := s.keeper("once", l).Once(t.Context(), reconcile.Full, time.Second); err != nil || !happened {
					t.Fatalf("nothing was claimed, %v", err)
				}
				if got := s.state("sb-orphan"); got != c.late {
					t.Errorf("the sandbox is %q, want %q", got, c.late)
				}
			})
		})
	}
}

// A look shows what earlier passes left open, with what holds it, as the pass will find it.
func TestLookShowsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lingering(t)
		looks := func(want, held string) {
			t.Helper()
			r, err := s.keeper("looker", &life{}).Plan(t.Context(), reconcile.Full)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Open) != 1 || r.Open[0].Step != reconcile.StepTerminate || r.Open[0].Sandbox != "sb-x" ||
				!strings.HasPrefix(r.Open[0].HeldBy.String(), held) || (len(r.Open[0].HeldBy) == 0) != (held == "") {
				t.Errorf("%s: open steps = %+v, want the terminate, held by %q", want, r.Open, held)
			}
		}
		looks("in quarantine", "in quarantine until ")
		time.Sleep(21 * time.Minute)
		looks("its time is over", "")
		busy := &life{refuse: func(call, _ string) error {
			if call == "Terminate" {
				return reconcile.ErrHeld
			}
			return nil
		}}
		if _, err := s.keeper("one", busy).Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		looks("the provider was busy", "tried again from ")
	})
}
