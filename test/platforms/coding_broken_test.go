package platforms

import (
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

func codingBroken() stories {
	return stories{
		"a user stops a task and its sandbox lives on": func(w *world) {
			codingCompany(w)
			t, box := codingAtWork(w, 4*time.Minute, nil)
			w.then(2, func() {
				w.sql(`UPDATE tasks SET status = 'stopped', error = 'Task was stopped by user',
					updated_at = timezone('UTC', now()) - interval '20 seconds',
					completed_at = timezone('UTC', now()) - interval '20 seconds' WHERE id = $1`, t.id)
			})
			w.ends("a stopped task", box)
			w.becomes("a stopped task", t, "concat_ws('|', status, error)", "^stopped.Task was stopped by user$")
		},
		"a user deletes a task and its sandbox lives on": func(w *world) {
			codingCompany(w)
			t, box := codingAtWork(w, 4*time.Minute, row{"status": "completed", "progress": 100})
			w.then(2, func() {
				w.sql("UPDATE tasks SET deleted_at = timezone('UTC', now()) - interval '20 seconds' WHERE id = $1", t.id)
			})
			w.ends("a deleted task", box)
		},
		"finished tasks are purged and a kept sandbox lives on":            purged,
		"a sandbox is gone at the provider while its task is processed":    func(w *world) { missing(w, w.vanish) },
		"a sandbox's session is over while its task is processed":          func(w *world) { missing(w, w.stop) },
		"a sandbox answers 410 while its task is processed":                func(w *world) { missing(w, w.answers410) },
		"a set-up of half an hour ago named no sandbox and nothing exists": abandoned,
	}
}

// purged rows are known to the ledger alone: their sandbox is nobody's, and is shown.
func purged(w *world) {
	codingCompany(w)
	t, box := codingAtWork(w, 30*time.Minute, row{"status": "completed", "keep_alive": true, "completed_at": 29 * time.Minute})
	w.then(2, func() { w.sql("DELETE FROM tasks WHERE id = $1", t.id) })
	w.found("a kept sandbox whose row was purged", box)
	w.finally(func(w *world) { w.Logf("of a kept sandbox whose row was purged %s", w.why(box)) })
}

// stop ends a session, which stays on record.
func (w *world) stop(id string) {
	w.cloud.Change(id, func(s *simulated.Sandbox) { s.State = "stopped" })
}

// answers410 lets the provider say of a session that it is over, in its own words.
func (w *world) answers410(id string) {
	w.vanish(id)
	w.cloud.Inject(simulated.Fault{On: simulated.Get, ID: id, Effect: simulated.Answer, Status: 410,
		Body: `{"error": {"code": "sandbox_stopped", "message": "Sandbox has stopped execution"}}`})
}

func missing(w *world, end func(id string)) {
	codingCompany(w)
	t, box := codingAtWork(w, 2*time.Minute, nil)
	w.then(1, func() { w.touched(t) })
	w.then(2, func() { end(box) })
	const what = "a task whose sandbox is gone"
	w.becomes(what, t, "status", "^error$")
	w.becomes(what, t, "error", "(?i)gone|not found|no longer|stopped|over|ended")
	w.never(what, t, "error", "(?i)heartbeat|silent|inactiv")
	w.alone(what, t.id, "sandbox-missing")
	w.becomes(what, t, "concat_ws('|', coalesce(sandbox_id, '-'), coalesce(sandbox_url, '-'))", `^-\|-$`)
	w.becomes(what, t, "logs::text", `(?i)"type":.*"message":.*(gone|stopped|ended|over).*"timestamp":`)
	w.becomes(what, t, "(completed_at > updated_at - interval '1 minute')::text", "true")
}

func abandoned(w *world) {
	codingCompany(w)
	t := codingTask(w, "processing", row{"created_at": 31 * time.Minute, "updated_at": 30 * time.Minute})
	w.becomes("a task whose set-up came to nothing", t, "status", "^error$")
	w.becomes("a task whose set-up came to nothing", t, "logs::text", `"message":`)
}
