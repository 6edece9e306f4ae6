package main

import (
	"fmt"
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

// well reports whether everything broken is repaired and nothing is left to do.
func (au *auditor) well() bool {
	return len(au.unrepaired()) == 0 && au.count("SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL") == 0
}

// unrepaired are the ills that are still there.
func (au *auditor) unrepaired() (out []string) {
	au.Helper()
	for _, x := range au.p.sickness() {
		if x.failed {
			if status, _ := au.state(x.task); status != "failed" {
				out = append(out, fmt.Sprintf("%s: task %s is %s", x.kind, x.task, status))
			}
		}
		if x.ended && !au.gone(x.box) {
			out = append(out, fmt.Sprintf("%s: sandbox %s is still there", x.kind, x.box))
		}
	}
	return out
}

func (au *auditor) gone(box string) bool {
	s, known := au.cloud.Sandbox(box)
	return !known || s.Gone
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
	rows, err := a.db.Query(a.Context(), query)
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
	for _, what := range au.unrepaired() {
		au.Errorf("not repaired: %s", what)
	}
	actions := collect[entry](au.arena, "SELECT id, task, sandbox, rule, step, outcome, detail FROM sandkeeper.actions")
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
		switch {
		case w.Op != "UPDATE" || w.After != "failed" || w.Rest:
			au.Errorf("%s of task %s from %s to %s is no failing", w.Op, w.Task, w.Before, w.After)
		case x == nil:
			au.Errorf("a task that was well was failed: %s: %s", w.Task, w.Reason)
		case wrote[w.Task] > 1:
			au.Errorf("task %s (%s) was written %d times", w.Task, x.kind, wrote[w.Task])
		case !known || e.Task != w.Task || e.Outcome != "done":
			au.Errorf("the write of task %s has the action %+v: %s", w.Task, e, w.Reason)
		}
	}
	for _, e := range actions {
		if e.Step == "fail" && (e.Outcome == "done") != done[e.ID] {
			au.Errorf("action %+v, was the row written: %t", e, done[e.ID])
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
				au.Errorf("action %+v, and the sandbox is there", e)
			}
		case e.Outcome == "failed":
			au.Errorf("action %+v", e)
		}
	}
	au.mu.Lock()
	defer au.mu.Unlock()
	for _, box := range slices.Sorted(maps.Keys(au.deletes)) {
		calls := au.deletes[box]
		effects := 0
		for i, c := range calls {
			if c.effect {
				effects++
			}
			if i > 0 && calls[i-1].heard && !au.diedBetween(calls[i-1].at.Add(-time.Second), c.at) {
				au.Errorf("sandbox %s was deleted again at %s: nobody had died since the answer before", box, c.at)
			}
		}
		if broken[box] == nil {
			au.Errorf("sandbox %s was well and was deleted %d times", box, len(calls))
		} else if effects != 1 || confirmed[box] != 1 {
			au.Errorf("sandbox %s (%s): %d deletes took effect, %d actions say confirmed, want 1 and 1", box,
				broken[box].kind, effects, confirmed[box])
		}
	}
}
