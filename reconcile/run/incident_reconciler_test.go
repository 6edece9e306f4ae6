package run_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// assigned adds tasks that were handed out an hour ago and never started.
func (s *stage) assigned(ids ...string) {
	for _, id := range ids {
		s.put(row{Task: reconcile.Task{State: reconcile.TaskAssigned, AssignedAt: ago(time.Hour)}}, id)
	}
}

// heard is the keeper of the stage with its log.
func (s *stage) heard(log *bytes.Buffer) *run.Reconciler {
	k := s.keeper("one", &life{})
	k.Log = slog.New(slog.NewTextHandler(log, nil))
	return k
}

// minute makes one full pass that must not fail, and lets a minute go by.
func (s *stage) minute(k *run.Reconciler) *run.Result {
	s.Helper()
	r, err := k.Once(s.Context(), reconcile.Full, time.Second)
	if err != nil {
		s.Fatal(err)
	}
	time.Sleep(time.Minute)
	return r
}

// TestIncidentInTheLedger: five tasks fail alike. Their rows are failed, budget by budget;
// none of their sandboxes is ended until the incident closes, which it does by itself.
func TestIncidentInTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.policy.Rules["systemic"] = reconcile.RulePolicy{Mode: reconcile.Observe, Remedy: reconcile.Report, Rollout: 100,
			Count: 5, Window: 30 * time.Minute}
		s.assigned("t1", "t2", "t3", "t4", "t5")
		s.watch(2) // observed first: that makes no second failure of each
		var log bytes.Buffer
		k := s.heard(&log)
		for range 4 {
			s.minute(k)
		}
		s.each([]string{"t1", "t2", "t3", "t4", "t5"}, nil)
		c, err := s.ledger.Controls(t.Context())
		if err != nil || len(c.Incidents) != 1 || c.Incidents[0].Count != 5 || !c.Incidents[0].Holds() {
			t.Fatalf("open incidents: %+v, %v; want one of 5 that holds", c.Incidents, err)
		}
		for _, a := range s.open() {
			if a.Step != reconcile.StepTerminate || a.Seq != 1 || a.Attempts > 0 {
				t.Errorf("open: %s of %s, %d attempts; want only ends that wait behind their rows", a.Step, a.Subject, a.Attempts)
			}
		}
		if r := s.minute(k); len(r.Plan.Steps) != 5 || !strings.HasPrefix(r.Plan.Steps[0].HeldBy.String(), "incident: ") {
			t.Errorf("steps: %+v, want the 5 ends held by the incident", r.Plan.Steps)
		}
		if n := strings.Count(log.String(), "incident opened"); n != 1 {
			t.Errorf("the log tells %d times that it opened, want once:\n%s", n, log.String())
		}
		for range 35 {
			s.minute(k)
		}
		s.each([]string{"t1", "t2", "t3", "t4", "t5"}, []string{"sb-t1", "sb-t2", "sb-t3", "sb-t4", "sb-t5"})
		if c, err = s.ledger.Controls(t.Context()); err != nil || len(c.Incidents) != 0 {
			t.Errorf("open incidents: %+v, %v; want none after a quiet window", c.Incidents, err)
		}
		if !strings.Contains(log.String(), "incident closed") {
			t.Errorf("the log does not tell that it closed:\n%s", log.String())
		}
		if r := s.minute(k); len(r.Plan.Findings) > 0 {
			t.Errorf("found %v, want a world at rest", r.Plan.Findings)
		}
	})
}

// TestFirstFailuresActNormally: until the incident opens each remedy is carried out whole.
func TestFirstFailuresActNormally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.policy.Rules["systemic"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Remedy: reconcile.Report, Rollout: 100,
			Count: 5, Window: 30 * time.Minute}
		k := s.keeper("one", &life{})
		for i := range 6 {
			s.assigned(fmt.Sprintf("t%d", i+1))
			s.minute(k)
			s.minute(k)
		}
		s.each([]string{"t1", "t2", "t3", "t4", "t5", "t6"}, []string{"sb-t1", "sb-t2", "sb-t3", "sb-t4"})
	})
}

// TestWrongRuleIsDemoted: a rule that is wrong on purpose fails tasks that then speak. With
// the third regret it goes back to observe, loudly, and fails nobody any more.
func TestWrongRuleIsDemoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		var log bytes.Buffer
		k := s.heard(&log)
		for _, id := range []string{"t1", "t2", "t3"} {
			s.assigned(id)
			s.minute(k)
			s.table.speak(id)
		}
		s.minute(k)
		c, err := s.ledger.Controls(t.Context())
		if err != nil || c.Modes["assigned-stale"] != reconcile.Observe {
			t.Fatalf("modes: %v, %v; want assigned-stale lowered to observe", c.Modes, err)
		}
		if !strings.Contains(log.String(), `level=ERROR msg="rule goes back to observe" rule=assigned-stale`) ||
			strings.Count(log.String(), `msg="false positive"`) != 3 {
			t.Errorf("the log tells of it too softly:\n%s", log.String())
		}
		s.assigned("t4")
		s.minute(k)
		s.minute(k)
		if wrote := s.table.writes(); slices.Contains(wrote, "t4") || len(wrote) != 3 {
			t.Errorf("rows written: %v, want t4 left alone", wrote)
		}
	})
}
