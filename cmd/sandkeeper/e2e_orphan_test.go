package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const nobody = "00000000-0000-4000-8000-000000000000" // a task id that no table has

// TestOrphanGoesAfterTwoFullPasses: only the owned, old and unexplained one, looked at by
// id before and after.
func TestOrphanGoesAfterTwoFullPasses(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	done := a.task(row{status: "completed", key: "omoios-done", created: time.Hour, updated: time.Minute})
	orphan := a.box(nobody, 10*time.Minute)
	stay := map[string]string{
		"young": a.box(strings.Replace(nobody, "0000", "1111", 1), 2*time.Minute).ID,
		"foreign": a.cloud.Put(
			simulated.Sandbox{Labels: map[string]string{"task_id": nobody}, CreatedAt: time.Now().Add(-time.Hour)},
		).ID,
		"just done": a.box(done, time.Hour).ID,
		"other's team": a.cloud.Put(
			simulated.Sandbox{Labels: map[string]string{"project": "research"}, CreatedAt: time.Now().Add(-time.Hour)},
		).ID,
	}
	a.once(0)
	if calls := a.cloud.Destructive(); len(calls) > 0 {
		t.Fatalf("one look was enough to end something: %v", calls)
	}
	a.later(61*time.Second, ws...)
	a.once(0)
	if !a.ended(orphan.ID) {
		t.Error("the orphan is still there after two full passes")
	}
	kinds := a.asked(orphan.ID)
	at := slices.Index(kinds, simulated.Delete)
	if at < 1 || kinds[at-1] == simulated.Delete || !slices.Contains(kinds[:at], simulated.Get) ||
		!slices.Contains(kinds[at:], simulated.Get) {
		t.Errorf("calls about the orphan = %v, want a get before and after the one delete", kinds)
	}
	a.once(0)
	for name, id := range stay {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
		}
	}
	if n := len(a.cloud.Destructive()); n != 1 {
		t.Errorf("%d destructive calls, want 1: %v", n, a.cloud.Destructive())
	}
	a.keeps(ws)
}

// jobsByUUID are tasks whose ids are of the type uuid, three of them at work.
const jobsByUUID = `CREATE TABLE jobs_by_uuid (LIKE tasks INCLUDING DEFAULTS);
	ALTER TABLE jobs_by_uuid ALTER id TYPE uuid USING NULL;
	INSERT INTO jobs_by_uuid (id, ticket_id, phase_id, task_type, priority, status, sandbox_id, created_at, updated_at, started_at)
	SELECT gen_random_uuid(), 'ticket', 'PHASE_IMPLEMENTATION', 'implement_feature', 'MEDIUM', 'running', 'job-' || n,
		ago, ago, ago FROM (SELECT now() - interval '5 minutes' AS ago) AS a, generate_series(1, 3) AS n`

// TestOrphanOfAnIDThatIsNone: a label that cannot be an id of the table proves nothing, a label
// with the id of no row does.
func TestOrphanOfAnIDThatIsNone(t *testing.T) {
	a := newArena(t, settings{tasks: ", table: public.jobs_by_uuid"})
	a.sql(jobsByUUID)
	rows, err := a.db.Query(t.Context(), "SELECT id::text FROM jobs_by_uuid")
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var ws []worker
	for i, task := range tasks {
		ws = append(ws, worker{key: fmt.Sprintf("job-%d", i+1)})
		a.box(task, 5*time.Minute)
		a.event(ws[i].key, "agent.heartbeat", time.Second)
	}
	orphan, strange := a.box(nobody, time.Hour).ID, a.box("not-a-uuid", time.Hour).ID
	a.once(0)
	a.later(61*time.Second, ws...)
	a.once(0)
	if !a.ended(orphan) {
		t.Error("the orphan is still there after two full passes")
	}
	if calls := a.asked(strange); a.ended(strange) || len(a.cloud.Destructive()) != 1 {
		t.Errorf("the sandbox of no id: %v, all: %v, want one delete of another", calls, a.cloud.Destructive())
	}
}

// TestOrphansGoByTheBudget: 60 orphans, 20 a pass, the rest held and listed.
func TestOrphansGoByTheBudget(t *testing.T) {
	a := newArena(t, settings{
		rules:  "{orphan: {after: 5m, sightings: 2, apart: 1s}}",
		limits: "{per_pass: 20, share: 100%, breaker: 100%}",
	})
	ws := a.working(3)
	for range 60 {
		a.box(newUUID(), 10*time.Minute)
	}
	a.once(0)
	a.later(2*time.Second, ws...)
	for pass, want := range []struct{ done, held int }{{20, 40}, {20, 20}, {20, 0}, {0, 0}} {
		r := a.once(0)
		done, held := 0, 0
		for _, s := range r.Steps {
			switch {
			case s.Verdict == "held" && strings.Contains(s.HeldBy.String(), "per_pass 20"):
				held++
			case s.Outcome == "confirmed":
				done++
			}
		}
		if done != want.done || held != want.held {
			t.Errorf("pass %d: %d done and %d held, want %d and %d", pass, done, held, want.done, want.held)
		}
		a.later(2*time.Second, ws...)
	}
	if n := len(a.cloud.Destructive()); n != 60 {
		t.Errorf("%d deletes, want 60", n)
	}
	a.keeps(ws)
}

// TestBreakerHoldsUntilReleased: too much is due at once, so nothing is done until a
// person has looked at the list; what comes on top trips it again.
func TestBreakerHoldsUntilReleased(t *testing.T) {
	a := newArena(t, settings{
		rules:  "{orphan: {after: 5m, sightings: 2, apart: 1s}}",
		limits: "{per_pass: 100, share: 100%, breaker: 30%}",
	})
	ws := a.working(15)
	for range 12 {
		a.box(newUUID(), 10*time.Minute)
	}
	a.once(0)
	a.later(2*time.Second, ws...)
	r := a.once(0)
	if n := len(a.cloud.Destructive()); n > 0 {
		t.Fatalf("the breaker let %d deletes pass", n)
	}
	if len(r.Steps) != 12 || !strings.Contains(r.Steps[0].HeldBy.String(), "breaker") {
		t.Fatalf("12 steps held by the breaker are wanted: %+v", r.Steps)
	}
	shown := a.must("release", "orphan")
	if n := strings.Count(shown, ": terminated (orphan)\n"); n != 12 {
		t.Errorf("what a release ends is named %d times, want each of 12:\n%s", n, shown)
	}
	_, rest, _ := strings.Cut(shown, "--hash ")
	hash := strings.Fields(rest)[0]
	if code, _, errs := a.run("release", "orphan", "--hash", "wrong"); code != 1 || !strings.Contains(errs, hash) {
		t.Errorf("a wrong hash: exit code %d, %s", code, errs)
	}
	one, _, _ := strings.Cut(shown, "\n")
	for what, args := range map[string][]string{
		"without the hash": {"--only", one}, "of what is not held": {"--hash", hash, "--only", "task:nobody"},
	} {
		if code, _, errs := a.run(append([]string{"release", "orphan", "--reason", "looked at"}, args...)...); code != 2 {
			t.Errorf("--only %s: exit code %d, %s", what, code, errs)
		}
	}
	a.must("release", "orphan", "--hash", hash, "--only", one, "--reason", "looked at this one")
	a.later(2*time.Second, ws...)
	a.once(0)
	if n := len(a.cloud.Destructive()); n != 1 {
		t.Errorf("%d deletes after the release of one, want 1", n)
	}
	_, rest, _ = strings.Cut(a.must("release", "orphan"), "--hash ")
	a.must("release", "orphan", "--hash", strings.Fields(rest)[0], "--reason", "looked at")
	a.later(2*time.Second, ws...)
	a.once(0)
	if n := len(a.cloud.Destructive()); n != 12 {
		t.Errorf("%d deletes after the release, want 12", n)
	}
	a.keeps(ws)
}

// TestReleaseOfOneKeepsTheFreeze: rows are lost, and the operator releases one sandbox that he looked at: what the others
// wait for stays so.
func TestReleaseOfOneKeepsTheFreeze(t *testing.T) {
	a := newArena(t, settings{
		rules:  "{orphan: {after: 5m, sightings: 2, apart: 1s}}",
		limits: "{per_pass: 100, share: 100%, breaker: 100%}",
	})
	ws := a.working(8)
	a.once(0)
	a.later(2*time.Second, ws...)
	a.once(0)
	a.sql("DELETE FROM tasks WHERE id IN (SELECT id FROM tasks ORDER BY id LIMIT 6)")
	for range 4 {
		a.later(400 * time.Second)
		a.once(3)
	}
	shown := a.must("release", "tasks")
	one, _, _ := strings.Cut(shown, "\n")
	_, rest, _ := strings.Cut(shown, "--hash ")
	a.must("release", "tasks", "--hash", strings.Fields(rest)[0], "--only", one, "--reason", "looked at this one")
	for range 4 {
		a.later(100 * time.Second)
		a.once(3)
	}
	deleted := a.cloud.Destructive()
	if len(deleted) != 1 || !strings.HasSuffix(one, deleted[0].ID) {
		t.Errorf("after the release of %s these were deleted: %v", one, deleted)
	}
}
