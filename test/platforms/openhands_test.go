package platforms

import (
	"net/http"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// openhandsTasks takes the one table that has a status: READY is what is done.
const openhandsTasks = `tasks:
  table: public.app_conversation_start_task
  columns:
    id: id
    status: status
    sandbox: sandbox_id
    created_at: created_at
    updated_at: updated_at
    error: detail
  statuses:
    assigned: [WORKING, WAITING_FOR_SANDBOX, PREPARING_REPOSITORY, RUNNING_SETUP_SCRIPT, SETTING_UP_GIT_HOOKS, STARTING_CONVERSATION]
    completed: [READY]
    failed: [ERROR]
  fail: {status: ERROR, set: {detail: "@reason", updated_at: "@now"}}
`

const openhandsEngine = `providers:
  - name: engine
    kind: docker
    url: ${PROVIDER_URL}
    owns: {name_prefix: oh-agent-server-, exclusive: true}
    link: {sandbox: name}
`

var engine = vendor{ids: dockertest.IDs, socket: true, serve: func(c *simulated.World) http.Handler {
	c.PutTemplate(simulated.Template{Name: image, General: true})
	return dockertest.New(c, dockertest.Options{})
}}

// openhandsContainer puts a container, and returns its id and its name.
func openhandsContainer(w *world, s simulated.Sandbox) (id, name string) {
	name = "oh-agent-server-" + newID()[:13]
	s.Name, s.Template = name, image
	s.Labels = map[string]string{"sandbox_spec_id": s.Template}
	return w.cloud.Put(s).ID, name
}

// openhandsStart adds a conversation with the task that starts it.
func openhandsStart(w *world, status, sandbox string, unchanged time.Duration) task {
	conversation, id := newID(), newID()
	w.insert("conversation_metadata", row{"conversation_id": conversation, "user_id": "ana", "title": "fix it",
		"sandbox_id": sandbox, "created_at": unchanged + time.Minute, "last_updated_at": unchanged,
		"conversation_version": "V1"})
	r := row{"id": id, "created_by_user_id": "ana", "status": status, "app_conversation_id": conversation,
		"created_at": unchanged + time.Minute, "updated_at": unchanged, "request": "{}"}
	if sandbox != "" {
		r["sandbox_id"] = sandbox
	}
	w.insert("app_conversation_start_task", r)
	return task{"public.app_conversation_start_task", "id", id}
}

func openhandsCompany(w *world) {
	for range 2 {
		box, name := openhandsContainer(w, age(4*time.Minute, time.Minute))
		w.healthy("a conversation beside it", openhandsStart(w, "READY", name, time.Minute), box)
	}
}

// TestOpenHands are worlds of OpenHands on Docker, mapped naively.
func TestOpenHands(t *testing.T) {
	p := naive(t, "openhands", openhandsTasks, openhandsEngine, engine)
	p.play(t, openhandsHealthy())
	p.play(t, openhandsBroken())
	p.play(t, openhandsHealthy().together())
}

func openhandsHealthy() stories {
	return stories{
		"a conversation goes on for an hour after it was started": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(time.Hour, time.Minute))
			w.healthy("a conversation", openhandsStart(w, "READY", name, time.Hour), box)
		},
		"paused and stopped sandboxes wait for the next message": func(w *world) {
			openhandsCompany(w)
			for _, state := range []string{"paused", "exited"} {
				box, name := openhandsContainer(w, age(200*time.Hour, 190*time.Hour))
				w.cloud.Change(box, func(s *simulated.Sandbox) {
					if s.State = "stopped"; state == "paused" {
						s.State = "suspended"
					}
				})
				w.healthy("a conversation that is "+state, openhandsStart(w, "READY", name, 190*time.Hour), box)
			}
		},
		"children share the sandbox of their parent": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(9*time.Minute, time.Minute))
			parent := openhandsStart(w, "READY", name, 8*time.Minute)
			child := openhandsStart(w, "STARTING_CONVERSATION", name, 5*time.Second)
			failed := openhandsStart(w, "ERROR", name, 7*time.Minute)
			w.healthy("a parent", parent, box)
			w.healthy("its child", child)
			w.healthy("its child that failed", failed)
		},
		"a set-up script works for ten minutes": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(11*time.Minute, time.Minute))
			w.healthy("a conversation in its set-up", openhandsStart(w, "RUNNING_SETUP_SCRIPT", name, 10*time.Minute), box)
		},
		"a sandbox is there for minutes before a task names it": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(6*time.Minute, time.Minute))
			t := openhandsStart(w, "WAITING_FOR_SANDBOX", "", 10*time.Second)
			w.always(func() {
				w.sql("UPDATE app_conversation_start_task SET updated_at = now() - interval '5 seconds' WHERE id::text = $1", t.id)
			})
			w.then(3, func() {
				w.sql("UPDATE app_conversation_start_task SET sandbox_id = $2, status = 'READY' WHERE id::text = $1", t.id, name)
			})
			w.healthy("a conversation that waits for its sandbox", t, box)
		},
		"sandboxes of the old version have rows elsewhere": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(9*time.Hour, time.Minute))
			w.insert("v1_remote_sandbox", row{"id": name, "created_by_user_id": "ana", "created_at": 9 * time.Hour})
			w.needed("a sandbox without a start task", box)
		},
	}
}

func openhandsBroken() stories {
	return stories{
		"a set-up's sandbox is gone": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(2*time.Minute, time.Minute))
			t := openhandsStart(w, "PREPARING_REPOSITORY", name, 10*time.Second)
			w.then(2, func() { w.vanish(box) })
			w.found("a start whose sandbox is gone", t.id)
		},
		"a start that failed left its sandbox running for a day": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(25*time.Hour, 24*time.Hour))
			openhandsStart(w, "ERROR", name, 24*time.Hour)
			w.found("the sandbox of a start that failed", box)
		},
	}
}
