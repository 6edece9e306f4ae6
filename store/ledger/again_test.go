package ledger

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// changes are what anybody may write into the ledger between two recalls. Each is of a random task or sandbox.
var changes = []string{
	"UPDATE sandkeeper.task_states SET status = status || 'x' WHERE id = $1",
	"UPDATE sandkeeper.task_states SET updated_at = updated_at + interval '1 microsecond' WHERE id = $1",
	"UPDATE sandkeeper.task_states SET turns = turns || now() WHERE id = $1",
	"UPDATE sandkeeper.task_states SET live = NOT live, changed_at = timestamptz '2026-01-01' WHERE id = $1",
	"UPDATE sandkeeper.task_states SET live = false, changed_at = timestamptz '2020-01-01' WHERE id = $1",
	"DELETE FROM sandkeeper.task_states WHERE id = $1",
	"INSERT INTO sandkeeper.task_states SELECT (jsonb_populate_record(t, jsonb_build_object('id', 'new ' || t.id))).* " +
		"FROM sandkeeper.task_states AS t WHERE t.id = $1 ON CONFLICT DO NOTHING",
	"UPDATE sandkeeper.sandboxes SET task = 'other' WHERE task = $1",
	"UPDATE sandkeeper.sandboxes SET gone_at = timestamptz '2026-01-01' WHERE task = $1",
	"UPDATE sandkeeper.sandboxes SET gone_at = NULL WHERE task = $1",
	"UPDATE sandkeeper.sandboxes SET probe_detail = probe_detail || 'x' WHERE task = $1",
	"UPDATE sandkeeper.sandboxes SET probed_at = NULL WHERE task = $1",
	"DELETE FROM sandkeeper.sandboxes WHERE task = $1",
	"INSERT INTO sandkeeper.sandboxes SELECT (jsonb_populate_record(s, " +
		"jsonb_build_object('id', 'new ' || s.id, 'gone_at', NULL))).* " +
		"FROM sandkeeper.sandboxes AS s WHERE s.task = $1 ON CONFLICT DO NOTHING",
}

// What is recalled again is what is recalled, to the bit, whatever was written in between, and it is told of which
// tasks something is remembered otherwise. What was recalled before stays as it was.
func TestRecallAgainIsRecall(t *testing.T) {
	live, _ := fleet(t, 60)
	now := time.Now().Truncate(time.Microsecond)
	g := NewLedger(live.pool, Options{Installation: "test", Clock: func() time.Time { return now }})
	r := rand.New(rand.NewPCG(1, 2))
	before, last := map[string]any{}, reconcile.Memory{}
	for turn := range 60 {
		for range r.IntN(4) {
			change(t, g, r)
		}
		now = now.Add(time.Duration(r.IntN(3)) * time.Hour)
		want, err := g.Recall(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, recalled, err := g.RecallAgain(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(everyTask(&got), everyTask(&want)) || !reflect.DeepEqual(small(got), small(want)) {
			t.Fatalf("in turn %d is recalled again\n%v\nwant\n%v", turn, everyTask(&got), everyTask(&want))
		}
		if !reflect.DeepEqual(everyTask(&last), before) {
			t.Fatalf("what was recalled before turn %d has changed", turn)
		}
		after := everyTask(&got)
		all := true
		for task := range after {
			was, known := got.Tasks.At(task)
			changed := recalled.Changed(was)
			all = all && (changed || !known)
			if known && !reflect.DeepEqual(before[task], after[task]) && !changed {
				t.Errorf("in turn %d task %q is not told to be remembered otherwise", turn, task)
			}
		}
		for task := range before {
			was, known := last.Tasks.At(task)
			if known && !got.Tasks.Has(task) && !recalled.Changed(was) {
				t.Errorf("in turn %d task %q is not told to be forgotten", turn, task)
			}
		}
		if all && turn > 0 {
			t.Errorf("in turn %d all is told to be remembered otherwise", turn)
		}
		before, last = after, got
	}
}

// change writes once, some times twice in one transaction, and some times not after all.
func change(t *testing.T, g *Ledger, r *rand.Rand) {
	t.Helper()
	undone := errors.New("rolled back")
	err := pgx.BeginFunc(t.Context(), g.base.pool, func(tx pgx.Tx) error {
		for range 1 + r.IntN(2) {
			task := "task-" + string(rune('1'+r.IntN(9)))
			if _, err := tx.Exec(context.WithoutCancel(t.Context()), changes[r.IntN(len(changes))], task); err != nil {
				return err
			}
		}
		if r.IntN(5) == 0 {
			return undone
		}
		return nil
	})
	if err != nil && !errors.Is(err, undone) {
		t.Fatal(err)
	}
}

// everyTask is what is remembered by task.
func everyTask(m *reconcile.Memory) map[string]any {
	type of struct {
		Task      reconcile.TaskSeen
		Known     bool
		Sandboxes map[reconcile.Ref]reconcile.SandboxSeen
		Probes    map[reconcile.Ref]reconcile.ProbeSeen
	}
	all := map[string]*of{}
	at := func(task string) *of {
		if all[task] == nil {
			all[task] = &of{Sandboxes: map[reconcile.Ref]reconcile.SandboxSeen{},
				Probes: map[reconcile.Ref]reconcile.ProbeSeen{}}
		}
		return all[task]
	}
	for id, seen := range m.Tasks.All() {
		at(id).Task, at(id).Known = seen, true
	}
	for ref, seen := range m.Sandboxes.All() {
		at(seen.Task).Sandboxes[ref] = seen
		if probes, probed := m.Probes[ref]; probed {
			at(seen.Task).Probes[ref] = probes
		}
	}
	out := map[string]any{}
	for task, seen := range maps.All(all) {
		out[task] = *seen
	}
	return out
}

// small is the rest of a memory.
func small(m reconcile.Memory) reconcile.Memory {
	m.Turn, m.Tasks, m.Sandboxes, m.Probes = 0, reconcile.RememberedTasks{}, reconcile.RememberedSandboxes{}, nil
	return m
}
