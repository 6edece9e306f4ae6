package run_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var ana = reconcile.Attribution{Author: "ana", Reason: "drill"}

// A drill is a world in which something has to be done, how it is to be worked off, and what
// it has come to then.
type drill struct {
	open func(t testing.TB) *stage
	done func(s *stage)
}

var drills = map[string]drill{
	"quarantine, activation and what a person asked for": {openedGently, (*stage).gentlyDone},
	"restore": {openedToRestore, (*stage).restoredOnce},
}

// openedGently is a stage whose orphan and whose broken sandbox are stopped first, with an
// inactive template that is to be activated, and a sandbox that a person wants ended.
func openedGently(t testing.TB) *stage {
	t.Helper()
	s := openedIn(t, simulated.Options{DeleteAfter: 20 * time.Second, StopAfter: 5 * time.Second,
		ActivateAfter: 90 * time.Second}, "stale", "orphan", "broken", "stopped")
	for _, rule := range []string{"orphan", "idle-broken", "stop-ignored"} {
		s.remedy(rule, reconcile.Quarantine)
	}
	s.policy.Rules["template-unusable"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Named: true,
		Remedy: reconcile.Activate}
	lab := s.policy.Providers[lab]
	lab.QuarantineFor, lab.Templates = 5*time.Minute, []string{"light"}
	s.policy.Providers[lab.Name] = lab
	s.cloud.PutTemplate(simulated.Template{Name: "light", State: reconcile.TemplateInactive})
	s.cloud.Put(simulated.Sandbox{ID: "sb-asked", CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
	s.ask(reconcile.AskTerminate(reconcile.RuleOperator, reconcile.Ref{Provider: lab.Name, ID: "sb-asked"}, "",
		reconcile.AskOptions{}))
	return s
}

func (s *stage) remedy(rule string, remedy reconcile.Remedy) {
	p := s.policy.Rules[rule]
	p.Remedy = remedy
	s.policy.Rules[rule] = p
}

func (s *stage) ask(actions ...reconcile.Action) {
	s.Helper()
	asked, err := s.ledger.Ask(s.Context(), ana, actions, nil)
	if err != nil || len(asked) != len(actions) {
		s.Fatalf("Ask = %d actions, %v, want %d", len(asked), err, len(actions))
	}
}

// calls are the calls of a kind that reached the provider, by what they were about.
func (s *stage) calls(kind simulated.Kind) map[string]int {
	out := map[string]int{}
	for _, c := range s.cloud.Calls() {
		if c.Kind == kind {
			out[c.ID]++
		}
	}
	return out
}

func once(ids ...string) map[string]int {
	out := map[string]int{}
	for _, id := range ids {
		out[id] = 1
	}
	return out
}

func (s *stage) gentlyDone() {
	s.Helper()
	for kind, want := range map[simulated.Kind]map[string]int{
		simulated.Stop:     once("sb-broken", "sb-orphan", "sb-stopped"),
		simulated.Delete:   once("sb-asked", "sb-broken", "sb-orphan", "sb-stale", "sb-stopped"),
		simulated.Activate: once("light"),
		simulated.Start:    once(),
	} {
		if diff := cmp.Diff(want, s.calls(kind)); diff != "" {
			s.Errorf("%s calls (-want +got):\n%s", kind, diff)
		}
	}
	wrote := s.table.writes()
	slices.Sort(wrote)
	if diff := cmp.Diff([]string{"broken", "stale"}, wrote); diff != "" {
		s.Errorf("rows written (-want +got):\n%s", diff)
	}
	if open := s.open(); len(open) > 0 {
		s.Errorf("%d actions are open, the first: %+v", len(open), open[0])
	}
	s.hears("fail stale", "fail broken", "terminate stale", "terminate broken", "terminate stopped")
}

// openedToRestore is a stage with a task that was failed and its sandbox quarantined by
// mistake, which a person has asked to restore.
func openedToRestore(t testing.TB) *stage {
	t.Helper()
	s := opened(t, "broken")
	s.remedy("idle-broken", reconcile.Quarantine)
	entry := s.policy.Providers[lab]
	entry.QuarantineFor = time.Hour
	s.policy.Providers[lab] = entry
	for range 5 {
		s.once()
		time.Sleep(time.Minute)
	}
	if r := s.table.row("broken"); r.State != reconcile.TaskFailed {
		t.Fatalf("the task is %s, want it failed", r.State)
	}
	if b, _ := s.cloud.Sandbox("sb-broken"); b.State != reconcile.SandboxStopped {
		t.Fatalf("the sandbox is %s, want it stopped", b.State)
	}
	s.cloud.Change("sb-broken", func(b *simulated.Sandbox) { b.Exec = simulated.Healthy })
	s.undo("task:broken")
	for _, target := range []string{"task:broken", "sandbox:sb-broken"} {
		if _, err := s.ledger.Hold(s.Context(), reconcile.Hold{Target: target, Author: "ana", Reason: "drill"}); err != nil {
			t.Fatal(err)
		}
	}
	s.cloud.ResetCalls()
	return s
}

// undo asks for the restore of a subject's quarantine.
func (s *stage) undo(subject string) {
	s.Helper()
	h, err := s.ledger.Subject(s.Context(), subject)
	if err != nil {
		s.Fatal(err)
	}
	slices.Reverse(h.Actions)
	actions, withdraw := reconcile.AskRestore(h.Actions)
	asked, err := s.ledger.Ask(s.Context(), ana, actions, withdraw)
	if err != nil || len(asked) == 0 || len(asked) != len(actions) || len(withdraw) == 0 {
		s.Fatalf("Ask = %d of %d actions, %d withdrawn, %v; want all", len(asked), len(actions), len(withdraw), err)
	}
}

func (s *stage) restoredOnce() {
	s.Helper()
	if r := s.table.row("broken"); r.State != reconcile.TaskRunning || r.Error != "" {
		s.Errorf("the row is %s with error %q, want it running as before", r.State, r.Error)
	}
	if b, _ := s.cloud.Sandbox("sb-broken"); b.State != reconcile.SandboxRunning {
		s.Errorf("the sandbox is %s, want it running", b.State)
	}
	if diff := cmp.Diff([]string{"broken"}, s.table.restored); diff != "" {
		s.Errorf("rows set back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(once("sb-broken"), s.calls(simulated.Start)); diff != "" {
		s.Errorf("starts (-want +got):\n%s", diff)
	}
	if ended := s.cloud.Destructive(); len(ended) > 0 {
		s.Errorf("the provider was asked to end %v", ended)
	}
	if told := s.platform.told(); told["restore broken"] == 0 {
		s.Errorf("the platform was told %v, want the restore as well", told)
	}
}

// working is a way to work a world off.
var working = map[string]func(s *stage, holder string, l *life) error{
	"once":   func(s *stage, holder string, l *life) error { return s.work(s.keeper(holder, l)) },
	"daemon": func(s *stage, holder string, l *life) error { return s.run(s.daemon(holder, l)) },
}

// Whatever is being done when a process ends, at any of its calls, the next one finishes it,
// and does nothing a second time.
func TestControlsSurviveAnEndAtEveryCall(t *testing.T) {
	for name, d := range drills {
		for _, way := range slices.Sorted(maps.Keys(working)) {
			t.Run(name+" by "+way, func(t *testing.T) {
				t.Parallel()
				calls := 0
				synctest.Test(t, func(t *testing.T) {
					s, l := d.open(t), &life{}
					if err := working[way](s, "first", l); err != nil {
						t.Fatal(err)
					}
					d.done(s)
					if told := s.platform.told(); slices.Max(slices.Collect(maps.Values(told))) > 1 {
						t.Errorf("without a death the platform was told twice: %v", told)
					}
					calls = l.count()
				})
				step := raced.Unless(1, 7)
				if way == "daemon" {
					step = raced.Unless(5, 29) // it does the same by the same functions, in another order
				}
				for i, e := range []string{"dies before its call", "dies when its call has been done"} {
					for n := 1 + i*(step-1)/2; n <= calls && !t.Failed(); n += step {
						synctest.Test(t, func(t *testing.T) { endDrillAt(t, d, working[way], endings[e], n) })
					}
				}
			})
		}
	}
}

func endDrillAt(t *testing.T, d drill, work func(*stage, string, *life) error, e ending, n int) {
	s := d.open(t)
	first, second := &life{}, &life{}
	e.end(s, first, n)
	if err := work(s, "first", first); errors.Is(err, errRestless) {
		t.Error("the first:", err)
	}
	time.Sleep(e.pause)
	if err := work(s, "second", second); err != nil {
		t.Error("the second:", err)
	}
	d.done(s)
	if t.Failed() {
		t.Logf("call %d of %d: %s", n, first.count(), strings.Join(first.calls[max(0, n-8):min(n+3, first.count())], ", "))
		for _, a := range s.open() {
			t.Logf("open: %s %s of %s %s: %s after %d attempts: %s", a.ID, a.Step, a.Subject, a.Sandbox, a.Outcome,
				a.Attempts, a.Detail)
		}
		s.tell()
	}
}
