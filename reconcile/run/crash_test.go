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

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var everything = []string{"stale", "orphan", "broken", "stopped"}

// An ending is how a process ends at its call n.
type ending struct {
	end   func(s *stage, l *life, n int)
	pause time.Duration // until the next process comes
}

var endings = map[string]ending{
	"dies before its call":             {func(_ *stage, l *life, n int) { l.dieAt = n }, 20 * time.Second},
	"dies when its call has been done": {func(_ *stage, l *life, n int) { l.dieAt, l.after = n, true }, 20 * time.Second},
	"loses its lease at its call":      {loseAt, 0},
}

// loseAt gives the lease to the next process while the call is on its way. The call takes
// longer than it takes to see that.
func loseAt(s *stage, l *life, n int) {
	l.before = func(call int, _ string) {
		if call != n {
			return
		}
		_ = s.ledger.DropLease(s.Context(), l.lease) // none is held yet, or any more
		if _, err := s.ledger.TakeLease(s.Context(), "second", time.Hour); err != nil {
			s.Error(err)
		}
		time.Sleep(6 * time.Second)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost = true
	}
}

// A process may end at any of its calls. The next one repairs what is left, and nothing
// twice.
func TestAnEndAtEveryCall(t *testing.T) {
	var calls int
	synctest.Test(t, func(t *testing.T) {
		s, l := opened(t, everything...), &life{}
		if err := s.work(s.keeper("first", l)); err != nil {
			t.Fatal(err)
		}
		s.repaired([]*life{l})
		calls = l.count()
		t.Log(l.calls)
	})

	if calls < 100 {
		t.Errorf("%d calls were made, and there is more to do than that", calls)
	}
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= calls && !t.Failed(); n += raced.Unless(1, 7) {
				synctest.Test(t, func(t *testing.T) { endAt(t, e, n) })
			}
		})
	}
}

func endAt(t *testing.T, e ending, n int) {
	s := opened(t, everything...)
	first, second := &life{}, &life{}
	e.end(s, first, n)
	err := s.work(s.keeper("first", first))
	if errors.Is(err, errRestless) {
		t.Error("the first:", err)
	}
	time.Sleep(e.pause)
	if err := s.work(s.keeper("second", second)); err != nil {
		t.Error("the second:", err)
	}
	s.repaired([]*life{first, second})
	for _, what := range first.late {
		if changes(what) {
			t.Errorf("after it had lost its lease: %s", what)
		}
	}
	if t.Failed() {
		t.Logf("call %d of %d: %s", n, first.count(), strings.Join(first.calls[max(0, n-8):min(n+3, first.count())], ", "))
		s.tell()
	}
}

func changes(call string) bool {
	for _, name := range []string{"Write", "Terminate", "Probe", "Suspend", "Resume", "Restore", "Activate"} {
		if strings.HasPrefix(call, name+" ") {
			return true
		}
	}
	return false
}

// repaired checks that everything was repaired, once, within the budgets, and nothing else
// was touched.
func (s *stage) repaired(lives []*life) {
	s.Helper()
	wrote, deleted := s.table.writes(), s.deletes()
	slices.Sort(wrote)
	slices.Sort(deleted)
	if diff := cmp.Diff([]string{"broken", "stale"}, wrote); diff != "" {
		s.Errorf("rows written (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"sb-broken", "sb-orphan", "sb-stale", "sb-stopped"}, deleted); diff != "" {
		s.Errorf("deletes that reached the provider (-want +got):\n%s", diff)
	}
	for _, id := range []string{"stale", "broken"} {
		if r := s.table.row(id); strings.Count(r.Error, "[sandkeeper ") != 1 || r.State != reconcile.TaskFailed {
			s.Errorf("row %s is %s with error %q, want it failed with one mark", id, r.State, r.Error)
		}
	}
	var left []string
	for _, b := range s.cloud.Sandboxes() {
		left = append(left, b.ID)
	}
	slices.Sort(left)
	if diff := cmp.Diff([]string{"sb-foreign", "sb-h1", "sb-h2", "sb-h3", "sb-h4"}, left); diff != "" {
		s.Errorf("sandboxes left (-want +got):\n%s", diff)
	}
	var asked []string
	for _, l := range lives {
		asked = append(asked, l.asked...)
	}
	slices.Sort(asked)
	if diff := cmp.Diff(deleted, asked); diff != "" {
		s.Errorf("the provider was asked more than once (-deleted +asked):\n%s", diff)
	}
	s.withinBudget(lives)
	s.closed()
	s.hears("fail stale", "fail broken", "terminate stale", "terminate broken", "terminate stopped")
}

// hears checks that the platform was told of exactly these, each at least once.
func (s *stage) hears(want ...string) {
	s.Helper()
	told := s.platform.told()
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(told))); diff != "" {
		s.Errorf("the platform was told (-want +got):\n%s", diff)
	}
}

func (s *stage) withinBudget(lives []*life) {
	s.Helper()
	total := 0
	for _, l := range lives {
		for pass, n := range l.begun {
			if total += n; n > s.policy.Limits.PerPass {
				s.Errorf("pass %d began %d remedies, its budget is %d", pass, n, s.policy.Limits.PerPass)
			}
		}
	}
	if total != 4 {
		s.Errorf("%d remedies were begun, want 4", total)
	}
}

// closed checks that the ledger is at rest, and tells the truth.
func (s *stage) closed() {
	s.Helper()
	if open := s.open(); len(open) > 0 {
		s.Errorf("%d actions are open, the first: %+v", len(open), open[0])
	}
	findings, err := s.ledger.OpenFindings(s.Context())
	if err != nil || len(findings) > 0 {
		s.Errorf("open findings = %+v, %v; want none", findings, err)
	}
	for subject, want := range map[string]int{"task:stale": 2, "task:broken": 2, "task:stopped": 1, "sb-orphan": 1} {
		if got := s.finished(subject); got != want {
			s.Errorf("%d actions of %s are done or confirmed, want %d", got, subject, want)
		}
	}
}

// finished counts the actions of a subject that were carried out.
func (s *stage) finished(subject string) int {
	s.Helper()
	h, err := s.ledger.Subject(s.Context(), subject)
	if err != nil {
		s.Error(err)
	}
	n := 0
	for _, a := range h.Actions {
		if a.Outcome == reconcile.OutcomeDone || a.Outcome == reconcile.OutcomeConfirmed {
			n++
		}
	}
	return n
}

// tell prints all actions on record, for a person to see what went wrong.
func (s *stage) tell() {
	for _, subject := range []string{"task:stale", "task:broken", "task:stopped", "sb-orphan"} {
		h, _ := s.ledger.Subject(s.Context(), subject) // nothing known is nothing to tell
		for _, a := range h.Actions {
			s.Logf("%s %s of %s%s: %s after %d attempts, pass %d: %s", a.ID, a.Step, a.Subject, a.Sandbox,
				a.Outcome, a.Attempts, a.Pass, a.Detail)
		}
	}
}
