package run_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// Cases of guards that the simulation seldom meets: something happens between the claim of a
// step and its deed. Each fails without its guard, see testdata/guards.txt.

var errCut = errors.New("connection cut")

// A lastMoment is what happens right before the n-th call of a kind since the first claim.
type lastMoment struct {
	named   []string // what is wrong
	prepare func(*stage)
	call    string
	n       int
	happens func(*stage)
	refuses []string // calls that fail from then on
	spares  string   // the sandbox that must be as it was after all
}

func TestTheLastMoment(t *testing.T) {
	hold := func(target string) func(*stage) {
		return func(s *stage) {
			_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: target, Author: "ana", Reason: "drill"})
			s.control(err)
		}
	}
	changed := func(id string, change func(*row)) func(*stage) {
		return func(s *stage) { s.table.change(id, change) }
	}
	box := func(id string, change func(*simulated.Sandbox)) func(*stage) {
		return func(s *stage) { s.cloud.Change(id, change) }
	}
	label := func(id, key, value string) func(*stage) {
		return box(id, func(b *simulated.Sandbox) { b.Labels[key] = value })
	}
	asks := func(id string) func(*stage) {
		return func(s *stage) {
			s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef(id), "", reconcile.AskOptions{}))
		}
	}
	stale, stopped := []string{"stale"}, []string{"stopped"}
	for name, c := range map[string]lastMoment{
		"the sandbox is held when its row is written": {
			named: stale, call: "Claim", n: 2, happens: hold("sandbox:sb-stale"), spares: "sb-stale"},
		"the sandbox is handed to another task": {
			named: stale, call: "Claim", n: 2, happens: label("sb-stale", "task", "h1"), spares: "sb-stale"},
		"the sandbox is not ours any more": {
			named: stale, call: "Claim", n: 2, spares: "sb-stale",
			happens: box("sb-stale", func(b *simulated.Sandbox) { delete(b.Labels, "app") })},
		"another row takes the sandbox": {
			named: stale, call: "Claim", n: 2, spares: "sb-stale",
			happens: changed("h1", func(r *row) { r.Sandbox = "sb-stale" })},
		"another row takes the sandbox, and labels alone link": {
			prepare: (*stage).byLabelAlone, named: stale, call: "Claim", n: 2, spares: "sb-stale",
			happens: changed("h1", func(r *row) { r.Sandbox = "sb-stale" })},
		"the task goes on": {
			named: stale, call: "Claim", n: 2, spares: "sb-stale",
			happens: changed("stale", func(r *row) { r.State, r.Error = reconcile.TaskRunning, "" })},
		"its rows cannot be read": {
			named: stale, call: "Claim", n: 2, refuses: []string{"ByID", "BySandbox"}, spares: "sb-stale"},
		"the sandbox of a stopped task is handed to another": {
			named: stopped, call: "Logs", n: 1, happens: label("sb-stopped", "task", "h1"), spares: "sb-stopped"},
		"the sandbox of a stopped task is not ours any more": {
			named: stopped, call: "Claim", n: 1, spares: "sb-stopped",
			happens: box("sb-stopped", func(b *simulated.Sandbox) { delete(b.Labels, "app") })},
		"a stopped task goes on while its sandbox is looked at": {
			named: stopped, call: "Get", n: 2, spares: "sb-stopped",
			happens: changed("stopped", func(r *row) { r.State, r.StartedAt = reconcile.TaskRunning, time.Now() })},
		"a broken sandbox answers": {
			named: []string{"broken"}, call: "Claim", n: 1, spares: "sb-broken",
			prepare: func(s *stage) { s.remedy("idle-broken", reconcile.Terminate) },
			happens: box("sb-broken", func(b *simulated.Sandbox) { b.Exec = simulated.Healthy })},
		"the row names the other one of two": {
			call: "Logs", n: 1, spares: "sb-h1b",
			prepare: func(s *stage) {
				s.cloud.Put(simulated.Sandbox{ID: "sb-h1b", CreatedAt: ago(time.Hour), Labels: map[string]string{"app": "ours", "task": "h1"}})
				s.enforce("duplicate", reconcile.RulePolicy{After: time.Minute, Remedy: reconcile.Terminate})
			},
			happens: changed("h1", func(r *row) { r.Sandbox = "sb-h1b" })},
		"a person asks for one whose labels are lost": {
			call: "Claim", n: 1, spares: "sb-h1",
			prepare: func(s *stage) {
				s.cloud.Change("sb-h1", func(b *simulated.Sandbox) { delete(b.Labels, "task") })
				s.table.change("h1", func(r *row) { r.Sandbox = "" })
				asks("sb-h1")(s)
			}},
		"a person asks for one whose rows cannot be read": {
			prepare: asks("sb-h1"), call: "Claim", n: 1, refuses: []string{"ByID", "BySandbox"}, spares: "sb-h1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.play(t) })
		})
	}
}

func (c *lastMoment) play(t *testing.T) {
	s, l := opened(t, c.named...), &life{}
	if c.prepare != nil {
		c.prepare(s)
	}
	claimed, n, happened := false, 0, false
	l.before = func(_ int, call string) {
		claimed = claimed || call == "Claim"
		if !claimed || call != c.call {
			return
		}
		if n++; n == c.n {
			happened = true
			if c.happens != nil {
				c.happens(s)
			}
		}
	}
	l.refuse = func(call, _ string) error {
		for _, refused := range c.refuses {
			if happened && call == refused {
				return errCut
			}
		}
		return nil
	}
	_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
	if !happened {
		t.Fatalf("it never came to %s number %d since the claim: %v", c.call, c.n, l.calls)
	}
	if got := s.state(c.spares); got != reconcile.SandboxRunning {
		t.Errorf("sandbox %s is %q, want it running", c.spares, got)
	}
}

// A process that stands still in its very last call before the deed does nothing.
func TestFrozenInTheLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, "orphan"), &life{}
		var late atomic.Bool
		l.before = func(_ int, call string) {
			if call == "Logs" {
				late.Store(true)
			}
			if late.Load() && (call == "Now" || call == "RenewClaim" || call == "RenewLease") {
				time.Sleep(20 * time.Second)
			}
		}
		_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
		if !late.Load() || len(s.deletes()) > 0 {
			t.Errorf("it came so far: %v, and was ended: %v", late.Load(), s.deletes())
		}
	})
}

// A pause that comes after the claim keeps a template as it is.
func TestActivateIsPausedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := openedIn(t, simulated.Options{}), &life{}
		s.policy.Rules["template-unusable"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Remedy: reconcile.Activate}
		entry := s.policy.Providers[lab]
		entry.Templates = []string{"light"}
		s.policy.Providers[lab] = entry
		s.cloud.PutTemplate(simulated.Template{Name: "light", State: reconcile.TemplateInactive})
		l.before = before("Claim", func() {
			s.control(s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
		})
		if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		if n := len(s.calls(simulated.Activate)); n != 0 {
			t.Error("a template was activated while all was paused")
		}
	})
}

// A request that can never be done is given up and told.
func TestAWishIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quarantining(t, simulated.Options{DeleteAfter: 20 * time.Second})
		s.pass(stuck)
		s.cloud.Inject(simulated.Fault{On: simulated.Start, Effect: simulated.Answer, Status: 500})
		s.undo("sandbox:lab/sb-orphan")
		s.pass(2 * time.Hour)
		for _, a := range s.open() {
			if a.Step == reconcile.StepResume {
				t.Errorf("after two hours it is still tried, %d times by now", a.Attempts)
			}
		}
	})
}

// What cannot be searched by link is not proven to be nowhere.
func TestASearchThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.table.put(row{Task: reconcile.Task{ID: "lost", State: reconcile.TaskAssigned, AssignedAt: ago(time.Hour), UpdatedAt: ago(time.Hour)}})
		l := &life{refuse: func(call, _ string) error {
			if call == "Find" {
				return errCut
			}
			return nil
		}}
		if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		s.untouched()
	})
}

// Where rows hold names, a provider that cannot be asked for names proves nothing by its listing.
func TestANameThatNobodyCanAskFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		lost := reconcile.Task{ID: "lost", State: reconcile.TaskRunning, StartedAt: ago(time.Hour), UpdatedAt: ago(time.Hour),
			Sandbox: "k0", Events: reconcile.Events{Heartbeat: ago(time.Hour)}}
		s.table.put(row{Task: lost})
		entry := s.policy.Providers[lab]
		entry.LinkTask, entry.SandboxIsID = false, false
		s.policy.Providers[lab] = entry
		for range 4 {
			s.once()
			time.Sleep(time.Minute)
		}
		s.untouched()
	})
}

// What a pass could not read, or was told not to, is what the ledger says of the rows after it.
func TestWhatAFailedPassLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		stop    bool
		trusted bool
	}{"the rows could not be read": {false, false}, "it was asked to stop": {true, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				l := &life{refuse: func(call, _ string) error {
					if call != "Live" {
						return nil
					}
					if c.stop {
						cancel()
					}
					return errCut
				}}
				if _, err := s.keeper("one", l).Once(ctx, reconcile.Full, time.Second); err == nil {
					t.Fatal("the pass did not fail")
				}
				sources, err := s.ledger.Sources(t.Context())
				if err != nil || sources["tasks"].Trusted != c.trusted {
					t.Errorf("the rows are trusted: %v (%v), want %v", sources["tasks"].Trusted, err, c.trusted)
				}
			})
		})
	}
}

// A pass that could not list says so.
func TestAPassWithoutAListingIsNotComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		deafList(s)
		r, err := s.keeper("one", &life{}).Once(t.Context(), reconcile.Full, time.Second)
		if err != nil || r.Complete || !strings.Contains(r.Error, "listing of lab") {
			t.Errorf("Once = complete %v, %q, %v; want it not complete", r.Complete, r.Error, err)
		}
	})
}

// An answer about another sandbox is no answer.
func TestAnAnswerAboutAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.lonely("sb-idle")
		k := s.keeper("one", &life{})
		k.Providers[lab] = mistaken{k.Providers[lab], "sb-idle"}
		s.ask(reconcile.AskTerminate(reconcile.RuleOperator, labRef("sb-gone"), "", reconcile.AskOptions{}))
		if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		if len(s.deletes()) > 0 {
			t.Errorf("asked to end sb-gone, it ended %v", s.deletes())
		}
	})
}

// A mistaken provider answers with the same sandbox whatever it is asked for.
type mistaken struct {
	reconcile.Provider
	id string
}

func (m mistaken) Get(ctx context.Context, _ string) (reconcile.Sandbox, error) {
	return m.Provider.Get(ctx, m.id)
}

// Nothing foreign is so much as judged, wherever it shows up.
func TestNothingForeignIsJudged(t *testing.T) {
	for name, referenced := range map[string]bool{"proven by labels": false, "proven by a row": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { foreignIsNotJudged(t, referenced) })
		})
	}
}

func foreignIsNotJudged(t *testing.T, referenced bool) {
	s := opened(t)
	entry := s.policy.Providers[lab]
	entry.Referenced = referenced
	s.policy.Providers[lab] = entry
	if !referenced {
		s.table.put(row{Task: reconcile.Task{ID: "odd", State: reconcile.TaskRunning, StartedAt: ago(time.Hour), Sandbox: "sb-foreign2",
			UpdatedAt: ago(time.Hour)}})
		s.cloud.Put(simulated.Sandbox{ID: "sb-foreign2", CreatedAt: ago(time.Hour)})
	}
	for _, kind := range []reconcile.PassKind{reconcile.Full, reconcile.Quick} {
		r, err := s.keeper("one", &life{}).Once(t.Context(), kind, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Judged.Decisions {
			for _, b := range r.Judged.Decisions[i].Subject.Boxes {
				if !b.Owned && b.Here {
					t.Errorf("a %s pass judged %s, which is not ours", kind, b.ID)
				}
			}
		}
	}
}

// A worker that is told to probe probes only what runs and is ours.
func TestWhatAWorkerDoesNotProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.lonely("sb-idle")
		s.cloud.Put(simulated.Sandbox{ID: "sb-paused", State: reconcile.SandboxSuspended, CreatedAt: ago(time.Hour),
			Labels: map[string]string{"app": "ours"}})
		l := &life{}
		w := run.NewWorker(t.Context(), s.keeper("one", l))
		for id, want := range map[string]int{"sb-idle": 1, "sb-paused": 0, "sb-foreign": 0} {
			was := counted(l.calls, "Probe")
			if err := w.Probe(t.Context(), labRef(id)); err != nil {
				t.Fatal(err)
			}
			if got := counted(l.calls, "Probe") - was; got != want {
				t.Errorf("%s was probed %d times, want %d", id, got, want)
			}
		}
	})
}

// A pass that probes by itself looks again as well: its listing may be a while behind.
func TestWhatAPassDoesNotProbe(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*simulated.Sandbox)
		want    int
	}{
		"nothing happened":          {func(*simulated.Sandbox) {}, 1},
		"it was given away":         {func(b *simulated.Sandbox) { b.Labels = map[string]string{"app": "theirs"} }, 0},
		"it was paused by its user": {func(b *simulated.Sandbox) { b.State = reconcile.SandboxSuspended }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				s.lonely("sb-idle")
				l := &life{before: func(_ int, call string) {
					if call == "ReserveProbes" {
						s.cloud.Change("sb-idle", c.happens)
					}
				}}
				if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
					t.Fatal(err)
				}
				if got := counted(l.calls, "Probe"); got != c.want {
					t.Errorf("%d sandboxes were probed, want %d", got, c.want)
				}
			})
		})
	}
}

// A task's own tenant puts the label of another one's task on its sandbox, and an operator holds what has a label that
// it has as well: the row names the sandbox, and is not failed.
func TestHeldByWhatItsRowNames(t *testing.T) {
	for held, want := range map[string]reconcile.TaskState{
		"label:keep=yes": reconcile.TaskRunning, "label:keep=no": reconcile.TaskFailed} {
		t.Run(held, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				s.late("z")
				l.before = before("Claim", func() {
					s.cloud.Change("sb-z", func(b *simulated.Sandbox) { b.Labels["task"], b.Labels["keep"] = "h1", "yes" })
					_, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: held, Author: "ana", Reason: "drill"})
					s.control(err)
				})
				_, _ = s.keeper("one", l).Once(s.Context(), reconcile.Full, time.Second)
				if got := s.table.row("z").State; got != want {
					t.Errorf("the task is %s, want it %s", got, want)
				}
			})
		})
	}
}

// What is to be brought back is looked at in the last moment as well.
func TestTheLastMomentOfARestore(t *testing.T) {
	pause := func(s *stage) {
		s.control(s.ledger.Pause(s.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
	}
	const stopped, running, failed = reconcile.SandboxStopped, reconcile.SandboxRunning, reconcile.TaskFailed
	for name, c := range map[string]struct {
		claim   int
		happens func(*stage)
		sandbox reconcile.SandboxState
		row     reconcile.TaskState
		starts  int // that the provider is asked for
		told    reconcile.Outcome
	}{
		"nothing":                      {1, func(*stage) {}, running, reconcile.TaskRunning, 1, reconcile.OutcomeDone},
		"all is paused":                {1, pause, stopped, failed, 0, reconcile.OutcomePending},
		"all is paused before its row": {2, pause, running, failed, 1, reconcile.OutcomePending},
		"it is not ours any more": {1, func(s *stage) {
			s.cloud.Change("sb-broken", func(b *simulated.Sandbox) { delete(b.Labels, "app") })
		}, stopped, failed, 0, reconcile.OutcomeWithdrawn},
		"somebody woke it": {1, func(s *stage) { _, _ = s.cloud.Start("sb-broken") }, running, reconcile.TaskRunning, 0,
			reconcile.OutcomeDone},
		"its row moved": {2, func(s *stage) { s.table.change("broken", func(r *row) { r.Error = "seen by support" }) },
			running, failed, 1, reconcile.OutcomeWithdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l, claims := openedToRestore(t), &life{}, 0
				l.before = func(_ int, call string) {
					if call != "Claim" {
						return
					}
					if claims++; claims == c.claim {
						c.happens(s)
					}
				}
				_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
				starts := counted(l.calls, "Resume")
				if got := s.state("sb-broken"); got != c.sandbox || starts != c.starts {
					t.Errorf("the sandbox is %q after %d starts, want %q after %d", got, starts, c.sandbox, c.starts)
				}
				if r := s.table.row("broken"); r.State != c.row {
					t.Errorf("the row is %s, want %s", r.State, c.row)
				}
				if got := s.restoreTold(); got != c.told {
					t.Errorf("the restore of the row is told to be %s, want %s", got, c.told)
				}
			})
		})
	}
}

// restoreTold is what became of the restore of the row, as the ledger has it.
func (s *stage) restoreTold() reconcile.Outcome {
	s.Helper()
	h, err := s.ledger.Subject(s.Context(), "task:broken")
	if err != nil {
		s.Fatal(err)
	}
	for _, a := range h.Actions {
		if a.Step == reconcile.StepRestore {
			return a.Outcome
		}
	}
	return ""
}

// The end of a quarantine waits while nobody can tell what the sandbox does.
func TestQuarantineEndsInNoUnknownState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quarantining(t, simulated.Options{DeleteAfter: 20 * time.Second})
		s.pass(stuck)
		time.Sleep(keep)
		l := &life{before: before("Claim", func() {
			s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { b.State, b.Raw = reconcile.SandboxUnknown, "warped" })
		})}
		_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
		if got := s.state("sb-orphan"); counted(l.calls, "Claim") == 0 || got == reconcile.SandboxEnded {
			t.Errorf("after %d claims it is %q, want it to wait", counted(l.calls, "Claim"), got)
		}
	})
}

// A provider whose ids were given to others, or that cannot be reached for a probe.
type odd struct {
	reconcile.Provider
	changed, blind bool
}

func (o odd) Terminate(ctx context.Context, sb reconcile.Sandbox) (reconcile.Termination, error) {
	if o.changed {
		return reconcile.TerminateChanged, nil
	}
	return o.Provider.Terminate(ctx, sb)
}

func (o odd) Probe(ctx context.Context, sb reconcile.Sandbox, p reconcile.ProbePolicy) reconcile.ProbeResult {
	if o.blind {
		return reconcile.ProbeResult{Ref: sb.Ref, Outcome: reconcile.Infrastructure}
	}
	return o.Provider.Probe(ctx, sb, p)
}

func TestOddProviders(t *testing.T) {
	for name, c := range map[string]struct {
		named string
		odd   odd
		want  reconcile.Outcome
	}{
		"the id is another's":            {"orphan", odd{changed: true}, reconcile.OutcomeWithdrawn},
		"the final probe cannot be made": {"broken", odd{blind: true}, reconcile.OutcomePending},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, c.named)
				k := s.keeper("one", &life{})
				c.odd.Provider = k.Providers[lab]
				k.Providers[lab] = c.odd
				r, err := k.Once(t.Context(), reconcile.Full, time.Second)
				if err != nil || len(r.Plan.Actions) == 0 {
					t.Fatalf("Once = %+v, %v; want a plan", r, err)
				}
				if got := r.Done[r.Plan.Actions[0].ID]; got.Outcome != c.want {
					t.Errorf("the first step is %s (%s), want %s", got.Outcome, got.Detail, c.want)
				}
				s.untouched()
			})
		})
	}
}

// A write that took effect although its answer was lost is found again, and told to be done.
func TestAWriteWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, "stale")
		k := s.keeper("one", &life{})
		k.Tasks = deaf{k.Tasks}
		r, err := k.Once(t.Context(), reconcile.Full, time.Second)
		if err != nil || len(r.Plan.Actions) == 0 || len(s.table.writes()) != 1 {
			t.Fatalf("Once = %+v, %v; want one write", r, err)
		}
		time.Sleep(time.Minute)
		s.once()
		if got := s.became(r.Plan.Actions[0]); got.Outcome != reconcile.OutcomeDone {
			t.Errorf("the write is %s (%s), want it done", got.Outcome, got.Detail)
		}
	})
}

// Deaf tasks write, and their answer is lost.
type deaf struct{ reconcile.Tasks }

func (d deaf) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	_, _, err := d.Tasks.Write(ctx, w)
	return "", nil, errors.Join(err, errCut)
}

// planned is a stage on which a pass has planned ends that nobody has begun, of more sandboxes
// than a breaker lets pass.
func planned(t *testing.T) (s *stage, begun *daemon, careful *run.Reconciler) {
	s = opened(t)
	for i := range 12 {
		s.put(row{Task: reconcile.Task{State: reconcile.TaskStopped}}, "o"+string(rune('a'+i)))
	}
	s.watch(4)
	begun = s.daemon("first", &life{})
	if r, err := begun.Pass(t.Context(), reconcile.Full, 0); err != nil || len(r.Plan.Actions) == 0 {
		t.Fatalf("the first pass planned nothing: %v", err)
	}
	careful = s.keeper("second", &life{})
	careful.Queue = begun.board
	careful.Policy.Limits.Breaker = 0.1
	time.Sleep(time.Minute)
	return s, begun, careful
}

// What an earlier pass planned is not done when a breaker holds it by now: not by a pass, nor
// by a worker, and not by one that still has the world of before in mind.
func TestPlannedBeforeTheBreaker(t *testing.T) {
	t.Run("by a pass", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _, careful := planned(t)
			if _, err := careful.Once(t.Context(), reconcile.Quick, time.Second); err != nil {
				t.Fatal(err)
			}
			s.untouched()
		})
	})
	t.Run("by a worker", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, begun, careful := planned(t)
			if _, err := careful.Pass(t.Context(), reconcile.Quick, 0); err != nil {
				t.Fatal(err)
			}
			if err := begun.workOff(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.untouched()
		})
	})
	t.Run("by a worker of before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, begun, careful := planned(t)
			if _, err := begun.worker.Remedy(t.Context(), s.open()[0].Remedy); err != nil {
				t.Fatal(err)
			}
			ended := len(s.deletes())
			if _, err := careful.Pass(t.Context(), reconcile.Quick, 0); err != nil {
				t.Fatal(err)
			}
			if err := begun.workOff(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(s.deletes()); n != ended {
				t.Errorf("%d sandboxes were ended, want the %d of before the breaker", n, ended)
			}
		})
	})
}

// What a rule began that this version does not know is left to one that does.
func TestStepsOfAnUnknownRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, claims := opened(t, "stale"), 0
		l := &life{}
		l.refuse = func(call, _ string) error {
			if call == "Claim" {
				if claims++; claims > 1 {
					return errCut
				}
			}
			return nil
		}
		_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
		if len(s.table.writes()) != 1 {
			t.Fatal("the row was not written")
		}
		delete(s.policy.Rules, "assigned-stale")
		s.pass(5 * time.Minute)
		if len(s.deletes()) > 0 {
			t.Errorf("ended are %v by a rule that is not known", s.deletes())
		}
	})
}

// A sandbox on its way out that is not ours any more is not hurried.
func TestHurriesOnlyWhatIsOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openedIn(t, simulated.Options{DeleteAfter: time.Hour}, "orphan")
		s.once()
		if n := s.calls(simulated.Delete)["sb-orphan"]; n != 1 {
			t.Fatalf("%d deletes, want 1", n)
		}
		s.cloud.Change("sb-orphan", func(b *simulated.Sandbox) { delete(b.Labels, "app") })
		s.pass(20 * time.Minute)
		if n := s.calls(simulated.Delete)["sb-orphan"]; n != 1 {
			t.Errorf("%d deletes, want it not hurried", n)
		}
	})
}

// The final probe goes into nothing that is not ours any more.
func TestNoFinalProbeOfAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, claimed := opened(t, "broken"), false
		s.remedy("idle-broken", reconcile.Terminate)
		l := &life{refuse: func(call, id string) error {
			if claimed && call == "Probe" && id == "sb-broken" {
				t.Error("it was probed although it is not ours any more")
			}
			return nil
		}}
		l.before = before("Claim", func() {
			claimed = true
			s.cloud.Change("sb-broken", func(b *simulated.Sandbox) { delete(b.Labels, "app") })
		})
		_, _ = s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second)
		if !claimed {
			t.Error("nothing was claimed")
		}
	})
}
