package platforms

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

func omoiosBroken() stories {
	return stories{
		"a user cancelled a task and its worker works on": func(w *world) {
			cancelled(w, "Task cancelled: superseded by the user")
		},
		"the guardian cancelled a task and its worker works on": func(w *world) {
			cancelled(w, "EMERGENCY CANCELLATION: budget exceeded")
		},
		"a ticket is deleted with its tasks and a worker works on":       cascaded,
		"a sandbox is gone while its task runs":                          func(w *world) { w.gone("failed", "failed") },
		"a claim of 20 minutes ago has nothing anywhere":                 func(w *world) { claimed(w) },
		"a finished task's sandbox runs on for an hour, nobody needs it": lingering,
		"a task that could not be spawned left a sandbox that runs":      unspawned,
		"a worker that waited is silent in a sandbox that is broken":     wrecked,
		"the work is done and validated, and its row still runs":         unrecorded,
	}
}

func omoiosRequeued() stories {
	return stories{"a sandbox is gone while its task runs, which is handed out again": func(w *world) {
		j := w.gone("pending", "handed out again")
		w.becomes("a task whose sandbox is gone", j.task, "concat_ws('|', retry_count, coalesce(sandbox_id, '-'))", `^1\|-$`)
	}}
}

func omoiosWritten() stories {
	return stories{"a failed task gets an event of the system": func(w *world) {
		claimed(w) // no sandbox ever had a name for it: there is nothing that an event could be of
		k := w.gone("failed", "failed")
		w.finally(func(w *world) {
			got := w.text(`SELECT string_agg(concat_ws('|', source, event_type, sandbox_id, event_data->>'task_id'), ' ')
				FROM sandbox_events WHERE event_type LIKE 'sandkeeper.%'`)
			if want := "system|sandkeeper.failed|" + k.name + "|" + k.id; got != want {
				w.Errorf("the events of sandkeeper are %q, want %q", got, want)
			}
		})
	}}
}

func cancelled(w *world, why string) {
	company(w)
	j := omoiWorker(w, "failed", 30*time.Minute, 5*time.Second, row{"error_message": why, "updated_at": 5 * time.Minute,
		"completed_at": 5 * time.Minute})
	busy(w, j)
	w.ends("a cancelled task whose worker works on", j.sandbox)
	w.becomes("a cancelled task", j.task, "concat_ws('|', status, error_message)", "^failed."+why+"$")
}

func cascaded(w *world) {
	company(w)
	j := omoiWorker(w, "running", 30*time.Minute, 5*time.Second, nil)
	busy(w, j)
	w.then(2, func() { w.sql("DELETE FROM tickets WHERE id = $1", "t-"+j.id) })
	w.ends("a task that was deleted with its ticket", j.sandbox)
}

// gone is a worker whose sandbox vanishes after the first pass.
func (w *world) gone(status, what string) job {
	company(w)
	j := omoiWorker(w, "running", 30*time.Minute, 5*time.Second, nil)
	w.then(1, func() { j.says(w, "agent.tool_use", 3*time.Second) })
	w.then(2, func() { w.vanish(j.sandbox) })
	w.becomes("a task whose sandbox is gone", j.task, "status", "^"+status+"$")
	w.becomes("a task whose sandbox is gone", j.task, "error_message", "(?i)gone|not found|no longer|deleted|destroyed")
	w.never("a task whose sandbox is gone and that was "+what, j.task, "error_message", "(?i)heartbeat|silent|inactiv")
	w.alone("a task whose sandbox is gone", j.id, "sandbox-missing")
	return j
}

func claimed(w *world) job {
	company(w)
	j := omoiTask(w, "claiming", row{"updated_at": 20 * time.Minute, "sandbox_id": nil})
	w.becomes("a claim that came to nothing", j.task, "status", "^failed$")
	w.becomes("a claim that came to nothing", j.task, "error_message", ".")
	return j
}

func lingering(w *world) {
	company(w)
	j := omoiWorker(w, "completed", 2*time.Hour, time.Hour+time.Second, row{"completed_at": time.Hour,
		"updated_at": time.Hour})
	j.reports(w, "continuous.completed", time.Hour, `{"validation_passed": true}`)
	w.ends("a task that finished an hour ago", j.sandbox)
	w.becomes("a finished task", j.task, "status", "^completed$")
}

func unspawned(w *world) {
	company(w)
	j := omoiTask(w, "failed", row{"error_message": "Sandbox spawn failed: install timed out", "updated_at": time.Hour,
		"completed_at": time.Hour, "sandbox_id": nil})
	omoiBox(w, &j, age(70*time.Minute, time.Hour))
	w.ends("a task that could not be spawned", j.sandbox)
}

func wrecked(w *world) {
	company(w)
	j := omoiWorker(w, "running", 40*time.Minute, 20*time.Minute, nil)
	for _, ago := range []time.Duration{4*time.Minute + 30*time.Second, 4 * time.Minute} {
		j.says(w, "agent.heartbeat", ago)
	}
	w.cloud.Change(j.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
	w.becomes("a task whose worker and sandbox are dead", j.task, "status", "^failed$")
	w.ends("a task whose worker and sandbox are dead", j.sandbox)
}

func unrecorded(w *world) {
	company(w)
	j := omoiWorker(w, "running", 40*time.Minute, 20*time.Minute, nil)
	j.says(w, "agent.completed", 19*time.Minute)
	j.reports(w, "continuous.completed", 18*time.Minute, `{"task_id": "`+j.id+`", "validation_passed": true}`)
	waiting(w, j)
	w.healthy("a task that is done", j.task)
	w.found("a task that is done and whose row runs", j.id)
}

// TestOmoiOSCheck: the example, the real tables and rows in every status that the platform
// writes are what check calls ok, also where sandkeeper writes events.
func TestOmoiOSCheck(t *testing.T) {
	p := omoios(t)
	for name, edits := range map[string][]string{"as it is": nil, "with events": {"write: false", "write: true"}} {
		t.Run(name, func(t *testing.T) {
			w := p.world(t)
			w.edits = edits
			company(w)
			for _, status := range []string{"pending", "claiming", "assigned", "running", "pending_validation", "validating",
				"needs_revision", "completed", "failed", "cancelled", "under_review", "validation_in_progress", "needs_work",
				"done"} {
				omoiTask(w, status, nil)
			}
			w.checked()
		})
	}
}
