package platforms

import (
	"fmt"
	"testing"
	"time"
)

// lab are the tables of a platform that is none in particular: it has a row for each word of the config that the public
// platforms have one of.
const lab = `CREATE TABLE jobs (id text PRIMARY KEY, status text NOT NULL, box text, created timestamptz, began timestamptz,
		written timestamptz, beat timestamptz, note text);
	CREATE INDEX ON jobs (status); CREATE INDEX ON jobs (box);
	CREATE TABLE warm (box text PRIMARY KEY);
	CREATE TABLE runs (run text PRIMARY KEY, job text NOT NULL);
	CREATE TABLE steps (run text, kind text, at timestamptz, data jsonb);
	CREATE TABLE pings (subject text, at timestamptz)`

// labTasks is its mapping, up to how a task is failed.
const labTasks = `tasks:
  table: public.jobs
  columns: {id: id, status: status, sandbox: box, created_at: created, started_at: began, updated_at: written, heartbeat_at: beat, error: note}
  statuses: {pending: [queued], running: [running], completed: [done], stopped: [cancelled], failed: [failed]}
`

const (
	labFail = "  fail: {status: failed, set: {note: \"@reason\"}}\n"

	labEngine = `providers:
  - name: engine
    kind: docker
    url: ${PROVIDER_URL}
    owns: {labels: {app: lab}, exclusive: true}
    link: {task_label: job}
`
)

// labOf is the platform with the rest of its config.
func labOf(t *testing.T, config string, v vendor) *platform {
	t.Helper()
	const rest = `installation: lab-prod
mode: enforce
database: ${DATABASE_URL}
limits: {per_pass: 1000, share: 100%, breaker: 100%, per_hour: 100000}
log: {level: error, format: json}
`
	return ready(t, platform{tables: lab, vendor: v, config: rest + config,
		gaps: []time.Duration{61 * time.Second, 122 * time.Second, 5 * time.Minute}})
}

// labJob adds a job of half an hour that was heard a minute ago, with its box.
func labJob(w *world, name string, r row) (task, string) {
	id := "j-" + name
	box := labBox(w, name, map[string]string{"job": id})
	w.insert("jobs", row{"id": id, "status": "running", "box": "lab-" + name, "created": 31 * time.Minute,
		"began": 30 * time.Minute, "written": 29 * time.Minute, "beat": time.Minute}.with(r))
	return task{"public.jobs", "id", id}, box
}

// labBox adds a box of ours that works for half an hour.
func labBox(w *world, name string, labels map[string]string) string {
	s := age(30*time.Minute, time.Minute)
	s.Name, s.Template, s.Labels = "lab-"+name, image, labels
	s.Labels["app"], s.Labels["team"] = "lab", "a"
	return w.cloud.Put(s).ID
}

// labCompany are jobs at work, each begun and heard in its own time.
func labCompany(w *world) {
	for n := range 12 {
		t, box := labJob(w, fmt.Sprint("well-", n), row{"began": 30*time.Minute - time.Duration(n)*time.Second})
		w.always(func() {
			w.sql("UPDATE jobs SET beat = clock_timestamp() - make_interval(secs => $2::int) WHERE id = $1", t.id, 3+n)
		})
		w.healthy("a job beside it", t, box)
	}
}

// stays says that a sandbox is not ended, whatever was tried.
func (w *world) stays(what, box string) {
	w.finally(func(w *world) {
		w.Helper()
		if s, known := w.cloud.Sandbox(box); !known || s.Gone || s.Doomed {
			w.Errorf("the sandbox of %s was ended: %s", what, w.why(box))
		}
	})
}
