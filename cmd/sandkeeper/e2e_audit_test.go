package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An auditor compares what happened to the rows, at the provider and in the ledger with
// what the platform knows to be broken.
type auditor struct {
	*arena
	p *living

	mu      sync.Mutex
	deletes map[string][]*deleted // by sandbox
	killed  map[int]time.Time     // by process, also those that were told to stop
	kills   int
	blocks  bool // somebody stands still with rows locked: the passes of others may fail meanwhile
	lied    bool // the provider said gone of what was there, so that it was confirmed before it was true
	spans   []span
	tally   tally
}

// A span is a time in which a fault was on, until the next complete full pass.
type span struct{ from, to time.Time }

// A tally counts what an audit found.
type tally struct {
	actions, effects int // of the ledger; of writes and deletes outside
	repeated         int // effects, or requests after a good answer, that nothing excuses
	asked            int // requests again that a fault or a death excuses
	lost, unrecorded int // not repaired or never settled; done outside and not in the ledger
	harmed           int // what was well and was touched
}

// wrong notes one thing that an audit finds fault with.
func (au *auditor) wrong(count *int, format string, args ...any) {
	au.Helper()
	*count++
	au.Errorf(format, args...)
}

// auditTable notes each write of the task table and who made it.
const auditTable = `
CREATE TABLE audit (
	n bigint GENERATED ALWAYS AS IDENTITY, at timestamptz DEFAULT clock_timestamp(),
	app text DEFAULT current_setting('application_name'), op text, task text,
	before text, after text, reason text, rest boolean);
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO audit (op, task, before, after, reason, rest)
	VALUES (tg_op, coalesce(new.id, old.id), old.status, new.status, new.error_message,
	        to_jsonb(new) - '{status,error_message,completed_at,updated_at}'::text[]
	        IS DISTINCT FROM to_jsonb(old) - '{status,error_message,completed_at,updated_at}'::text[]);
	RETURN NULL; END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION audit()`

// audited makes a world that is watched from its first moment.
func (a *arena) audited(seed uint64, around func(http.Handler) http.Handler) *auditor {
	a.Helper()
	au := &auditor{arena: a, deletes: map[string][]*deleted{}, killed: map[int]time.Time{}}
	a.sql(auditTable)
	au.p = a.liveOn(seed, func(h http.Handler) http.Handler {
		if around != nil {
			h = around(h)
		}
		return au.watch(h)
	})
	return au
}

// kill is SIGKILL, noted.
func (au *auditor) kill(c *child) {
	au.mu.Lock()
	au.kills++
	au.killed[c.cmd.Process.Pid] = time.Now()
	au.mu.Unlock()
	c.kill()
}

// stop is SIGTERM, noted: a pass that is under way ends without a result.
func (au *auditor) stop(d *daemonChild) {
	au.Helper()
	au.mu.Lock()
	if _, dead := au.killed[d.cmd.Process.Pid]; !dead { // to the others it was, while it stood still
		au.killed[d.cmd.Process.Pid] = time.Now()
	}
	au.mu.Unlock()
	d.stop()
}

// A written is one write of sandkeeper's.
type written struct {
	Op, Task, Before, After, Reason string
	Rest                            bool // it changed more than a failure does
}

// An entry is one action of the ledger.
type entry struct {
	ID, Task, Sandbox, Rule, Step, Outcome, Detail string
}

func collect[T any](a *arena, query string) []T {
	a.Helper()
	rows, err := a.pool(query).Query(a.Context(), query)
	if err != nil {
		a.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		a.Fatal(err)
	}
	return out
}

// audit demands that everything broken was repaired, once, that nothing else was touched,
// and that the ledger says the same.
func (au *auditor) audit() {
	au.Helper()
	au.tally = tally{}
	for _, what := range au.unrepaired() {
		au.wrong(&au.tally.lost, "not repaired: %s", what)
	}
	if n := au.count("SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL"); n > 0 {
		au.wrong(&au.tally.lost, "%d actions are still open", n)
	}
	actions := collect[entry](au.arena, "SELECT id, task, sandbox, rule, step, outcome, detail FROM sandkeeper.actions")
	au.tally.actions = len(actions)
	au.rowsAgree(actions)
	au.boxesAgree(actions)
	au.budgets(4)
	au.passesApart()
	au.tell(actions)
}

// rowsAgree: each write of ours failed a broken task, once, and its action says done.
func (au *auditor) rowsAgree(actions []entry) {
	au.Helper()
	broken := map[string]*ill{}
	for _, x := range au.p.sickness() {
		if x.failed {
			broken[x.task] = x
		}
	}
	byMark := map[string]entry{}
	for _, e := range actions {
		byMark[reconcile.Mark(e.ID)] = e
	}
	wrote := map[string]int{}
	done := map[string]bool{}
	for _, w := range collect[written](au.arena, `SELECT op, task, coalesce(before, '') AS before, coalesce(after, '') AS after,
			coalesce(reason, '') AS reason, rest FROM audit WHERE app <> 'platform' ORDER BY n`) {
		x := broken[w.Task]
		mark := w.Reason[max(0, strings.LastIndex(w.Reason, "[sandkeeper ")):]
		e, known := byMark[mark]
		wrote[w.Task]++
		done[e.ID] = true
		au.tally.effects++
		switch {
		case w.Op != "UPDATE" || w.After != "failed" || w.Rest:
			au.wrong(&au.tally.harmed, "%s of task %s from %s to %s is no failing", w.Op, w.Task, w.Before, w.After)
		case x == nil:
			au.wrong(&au.tally.harmed, "a task that was well was failed: %s: %s", w.Task, w.Reason)
		case wrote[w.Task] > 1:
			au.wrong(&au.tally.repeated, "task %s (%s) was written %d times", w.Task, x.kind, wrote[w.Task])
		case !known || e.Task != w.Task || e.Outcome != "done":
			au.wrong(&au.tally.unrecorded, "the write of task %s has the action %+v: %s", w.Task, e, w.Reason)
		}
	}
	for _, e := range actions {
		if e.Step == "fail" && (e.Outcome == "done") != done[e.ID] {
			au.wrong(&au.tally.lost, "action %+v, was the row written: %t", e, done[e.ID])
		}
	}
}

// boxesAgree: each sandbox that was ended was broken, was asked for by an action, and that
// says confirmed.
func (au *auditor) boxesAgree(actions []entry) {
	au.Helper()
	broken := map[string]*ill{}
	for _, x := range au.p.sickness() {
		if x.ended {
			broken[x.box] = x
		}
	}
	confirmed := map[string]int{}
	for _, e := range actions {
		switch {
		case e.Step == "terminate" && e.Outcome == "confirmed":
			confirmed[e.Sandbox]++
			if !au.gone(e.Sandbox) {
				au.wrong(&au.tally.lost, "action %+v, and the sandbox is there", e)
			}
		case e.Outcome == "failed":
			au.wrong(&au.tally.lost, "action %+v", e)
		}
	}
	au.mu.Lock()
	defer au.mu.Unlock()
	for _, box := range slices.Sorted(maps.Keys(au.deletes)) {
		effects := au.deletesOf(box)
		au.tally.effects += effects
		switch {
		case broken[box] == nil:
			au.wrong(&au.tally.harmed, "sandbox %s was well and was deleted %d times", box, len(au.deletes[box]))
		case effects > 1:
			au.wrong(&au.tally.repeated, "sandbox %s (%s): %d deletes took effect", box, broken[box].kind, effects)
		case effects != confirmed[box] && !(au.lied && confirmed[box] > effects):
			au.wrong(&au.tally.unrecorded, "sandbox %s (%s): %d deletes took effect, %d actions say confirmed", box,
				broken[box].kind, effects, confirmed[box])
		}
	}
}
