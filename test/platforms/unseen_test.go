package platforms

import (
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// mono is the table that the config of MonoTask names, for its own is not public.
const mono = `CREATE TABLE tasks (id text PRIMARY KEY, status text NOT NULL, sandbox_id text,
	created_at timestamptz NOT NULL, started_at timestamptz, updated_at timestamptz NOT NULL, error_message text);
	CREATE INDEX ON tasks (status)`

var containers = vendor{base: cloudflaretest.ControlPath, serve: func(c *simulated.World) http.Handler {
	return cloudflaretest.New(c, cloudflaretest.Options{})
}}

var regions = vendor{ids: agentuitytest.IDs, serve: func(c *simulated.World) http.Handler {
	return agentuitytest.New(c, agentuitytest.Options{})
}}

// monoTask adds a row of an hour ago.
func monoTask(w *world, r row) task {
	id := newID()
	w.insert("tasks", row{"id": id, "created_at": time.Hour, "updated_at": time.Hour}.with(r))
	return task{"public.tasks", "id", id}
}

// monoAtWork is a task at work, with its sandbox.
func monoAtWork(w *world) (task, string) {
	name := "task-" + newID()
	t := monoTask(w, row{"status": "running", "sandbox_id": name, "created_at": 6 * time.Minute,
		"started_at": 5 * time.Minute, "updated_at": time.Minute})
	box := age(6*time.Minute, time.Minute)
	box.Name, box.Labels = name, map[string]string{"task_id": t.id}
	return t, w.cloud.Put(box).ID
}

// agentuityBox is a sandbox of that name and age that runs.
func agentuityBox(w *world, name string, old time.Duration) string {
	box := age(old, old)
	box.Name = name
	return w.cloud.Put(box).ID
}

// stateOf is the state of a sandbox at the provider.
func (w *world) stateOf(id string) string {
	w.Helper()
	s, known := w.cloud.Sandbox(id)
	if !known {
		return "gone"
	}
	return string(s.State)
}
