package platforms

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// labEvents are events that know their job alone: some by the run, which another table knows, some by a subject with a
// prefix. What completed means is in its data.
const labEvents = `events:
  from: |
    SELECT r.job, s.kind, s.at, s.data FROM public.steps s JOIN public.runs r ON r.run = s.run
    UNION ALL SELECT substr(p.subject, 5), 'ping', p.at, '{}'::jsonb FROM public.pings p WHERE p.subject LIKE 'job/%'
  columns: {task: "('j-' || e.job)", type: kind, at: at, data: data}
  started: [began]
  heartbeat: [ping, {type: continuous.completed, where: "data->>'validation_passed' = 'false'"}]
  finished: [{type: continuous.completed, where: "data->>'validation_passed' = 'true'"}]
`

// labStep adds an event of a job's run.
func labStep(w *world, name, kind, data string, at time.Duration) {
	w.Helper()
	w.sql("INSERT INTO runs VALUES ('run-' || $1, $1) ON CONFLICT DO NOTHING", name)
	w.insert("steps", row{"run": "run-" + name, "kind": kind, "data": data, "at": at})
}

// labPings lets a job be heard.
func labPings(w *world, name string) {
	w.always(func() { w.sql("INSERT INTO pings VALUES ('job/' || $1, now() - interval '2 seconds')", name) })
}

// TestEventsOfTheTask: a worker is heard, and its end is found, by events that name its task through a join, an
// expression and a prefix. A type that means two things means each by its data.
func TestEventsOfTheTask(t *testing.T) {
	p := labOf(t, labTasks+labFail+labEngine+labEvents, engine)
	silent := row{"beat": nil}
	p.play(t, stories{"jobs that events tell of": func(w *world) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			t, box := labJob(w, name, silent)
			labStep(w, name, "began", "{}", 30*time.Minute)
			labPings(w, name)
			w.healthy("a job that is heard by its pings", t, box)
		}
		again, box := labJob(w, "again", silent)
		labStep(w, "again", "began", "{}", 30*time.Minute)
		w.always(func() { labStep(w, "again", "continuous.completed", `{"validation_passed": false}`, 4*time.Second) })
		w.healthy("a job that did not pass and goes on", again, box)
		w.unsuspected("a job that did not pass and goes on", again.id, "finished-unrecorded", "heartbeat-lost")

		over, _ := labJob(w, "over", silent)
		labStep(w, "over", "began", "{}", 30*time.Minute)
		labStep(w, "over", "continuous.completed", `{"validation_passed": true}`, 20*time.Minute)
		w.told("finished-unrecorded", over.id)
		w.never("a job that is done", over, "status", "^failed$")

		// Another's pings are not its own, by a subject without the prefix.
		lost, gone := labJob(w, "lost", silent)
		w.cloud.Change(gone, func(s *simulated.Sandbox) { s.Files = simulated.NoPath }) // silence alone ends nobody
		labStep(w, "lost", "began", "{}", 30*time.Minute)
		w.insert("pings", row{"subject": "job/lost", "at": 20 * time.Minute})
		w.always(func() { w.sql("INSERT INTO pings VALUES ('box/lost', now())") })
		w.told("heartbeat-lost", lost.id)
		w.becomes("a job that was heard once", lost, "status || ' ' || note", `^failed .*\[sandkeeper `)
		w.ends("a job that was heard once", gone)
		w.finally(func(w *world) { w.checked() })
	}})
}
