package platforms

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// daytona is the provider with its toolbox.
var daytona = vendor{base: "/api", serve: func(c *simulated.World) http.Handler {
	c.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	return daytonatest.New(c, daytonatest.Options{TaskLabel: "task_id"})
}}

// example is a config as we hand it out, with the address of the world's provider.
func example(t *testing.T, name, kind string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	was := "    kind: " + kind + "\n"
	if !strings.Contains(string(text), was) {
		t.Fatalf("%s does not say %q", name, was)
	}
	return strings.Replace(string(text), was, was+"    url: ${PROVIDER_URL}\n", 1)
}

func omoios(t *testing.T) *platform {
	t.Helper()
	return ready(t, platform{name: "omoios", config: example(t, "omoios-daytona/sandkeeper.yaml", "daytona"), vendor: daytona})
}

// A job is a task of OmoiOS with the name of its sandbox and the sandbox's id.
type job struct {
	task
	name, sandbox string
}

// omoiTask adds a row, in a project and a ticket of its own, with a name for its sandbox.
func omoiTask(w *world, status string, r row) job {
	id := newID()
	w.insert("projects", row{"id": "p-" + id, "name": "shop", "autonomous_execution_enabled": true})
	w.insert("tickets", row{"id": "t-" + id, "title": "fix it", "phase_id": "PHASE_IMPLEMENTATION", "status": "building",
		"priority": "MEDIUM", "created_at": 3 * time.Hour, "updated_at": time.Hour, "project_id": "p-" + id})
	j := job{task: task{"public.tasks", "id", id}, name: fmt.Sprintf("omoios-%s-%s", id[:8], id[30:])}
	r = row{"id": id, "ticket_id": "t-" + id, "phase_id": "PHASE_IMPLEMENTATION", "task_type": "implement_feature",
		"priority": "MEDIUM", "status": status, "created_at": 2 * time.Hour, "updated_at": time.Minute,
		"sandbox_id": j.name}.with(r)
	if r["sandbox_id"] != nil {
		w.insert("agents", row{"id": "a-" + id, "agent_type": "worker", "status": "RUNNING", "created_at": time.Hour,
			"capabilities": []string{"implement"}, "capacity": 1, "health_status": "healthy"})
	}
	w.insert("public.tasks", r)
	return j
}

// omoiBox puts a running sandbox as the spawner makes it.
func omoiBox(w *world, j *job, s simulated.Sandbox) {
	s.Name, s.Template, s.Ephemeral = j.name, "ai-agent-dev-light", true
	s.Labels = map[string]string{"project": "omoios", "task_id": j.id, "agent_id": "a-" + j.id,
		"phase_id": "PHASE_IMPLEMENTATION"}
	j.sandbox = w.cloud.Put(s).ID
}

// says is an event of the worker.
func (j job) says(w *world, kind string, ago time.Duration) {
	j.reports(w, kind, ago, fmt.Sprintf(`{"task_id": %q, "agent_id": "a-%s", "sandbox_id": %q}`, j.id, j.id, j.name))
}

func (j job) reports(w *world, kind string, ago time.Duration, data string) {
	source := "agent"
	if !strings.HasPrefix(kind, "agent.") {
		source = "worker"
	}
	w.insert("public.sandbox_events", row{"id": "event-" + newID(), "sandbox_id": j.name, "event_type": kind,
		"event_data": data, "source": source, "created_at": ago})
}

// omoiWorker is a running task whose worker started long ago, waited for its first message
// with heartbeats, and has worked since.
func omoiWorker(w *world, status string, began, quiet time.Duration, r row) job {
	j := omoiTask(w, status, row{"started_at": began, "updated_at": began}.with(r))
	omoiBox(w, &j, age(began+time.Minute, quiet))
	j.says(w, "agent.started", began)
	for _, before := range []time.Duration{5, 35, 65} {
		j.says(w, "agent.heartbeat", began-before*time.Second)
	}
	for _, before := range []time.Duration{90, 80, 20} {
		j.says(w, "agent.tool_completed", quiet+before*time.Second)
		j.says(w, "agent.tool_use", quiet+before*time.Second-time.Second)
	}
	j.says(w, "agent.tool_use", quiet)
	return j
}

// busy lets a worker call one tool after the other.
func busy(w *world, j job) {
	w.always(func() {
		j.says(w, "agent.tool_use", 9*time.Second)
		j.says(w, "agent.tool_completed", 8*time.Second)
		j.says(w, "agent.tool_use", 4*time.Second)
		w.active(j.sandbox)
	})
}

// waiting lets a worker wait for a message.
func waiting(w *world, j job) {
	w.always(func() {
		j.says(w, "agent.heartbeat", 33*time.Second)
		j.says(w, "agent.heartbeat", 3*time.Second)
	})
}

// company are three workers at work and one that waits, all well.
func company(w *world) {
	for range 3 {
		j := omoiWorker(w, "running", 20*time.Minute, 5*time.Second, nil)
		busy(w, j)
		w.healthy("a worker beside it", j.task, j.sandbox)
	}
	j := omoiWorker(w, "running", 40*time.Minute, 3*time.Minute, nil)
	j.says(w, "agent.completed", 2*time.Minute)
	waiting(w, j)
	w.healthy("a worker that waits beside it", j.task, j.sandbox)
}

// TestOmoiOS are worlds of OmoiOS with the example's config, in which nothing is broken but
// what the name says.
func TestOmoiOS(t *testing.T) {
	p := omoios(t)
	p.play(t, omoiosAtWork())
	p.play(t, omoiosWithoutTask())
	p.play(t, omoiosBroken())
	p.play(t, omoiosAtWork().together())
	p.play(t, omoiosRequeued(), "rules:\n", "rules:\n  sandbox-missing: {remedy: requeue}\n")
	p.play(t, omoiosWritten(), "write: false", "write: true")
}

func omoiosAtWork() stories {
	quiet := func(from time.Duration) func(*world) {
		return func(w *world) {
			company(w)
			j := omoiWorker(w, "running", 30*time.Minute, from, nil)
			w.healthy("a worker in one command", j.task, j.sandbox)
		}
	}
	waits := func(status string) func(*world) {
		return func(w *world) {
			company(w)
			j := omoiWorker(w, status, 2*time.Hour, time.Hour+time.Second, nil)
			j.says(w, "agent.completed", time.Hour)
			waiting(w, j)
			w.healthy("a worker that waits, its row "+status, j.task, j.sandbox)
			w.unsuspected("a worker that waits, its row "+status, j.id, "finished-unrecorded")
		}
	}
	comesUp := func(from time.Duration) func(*world) {
		return func(w *world) {
			company(w)
			j := omoiTask(w, "claiming", row{"updated_at": from, "sandbox_id": nil})
			omoiBox(w, &j, age(from-10*time.Second, time.Second))
			w.always(func() { w.active(j.sandbox) })
			w.healthy("a row that is being claimed", j.task, j.sandbox)
		}
	}
	return stories{
		"a worker in one command says nothing for 2½ to 5½ minutes": quiet(150 * time.Second),
		"a worker in one command says nothing for 6½ to 9½ minutes": quiet(390 * time.Second),
		"a worker has waited for an hour since it completed":        waits("running"),
		"a worker waits while its work is due for validation":       waits("pending_validation"),
		"a worker waits while its work is validated":                waits("validating"),
		"a sandbox comes up for 4 to 7 minutes":                     comesUp(4 * time.Minute),
		"a sandbox comes up for 7 to 10 minutes":                    comesUp(7 * time.Minute),
		"an iteration completes and the next one begins":            iterates,
		"the date that orders the queue has passed":                 dated,
		"a worker of the embedded orchestrator, without sandbox_id": embedded,
		"a task that is tried again keeps its old start":            triedAgain,
		"tasks wait for their user for hours":                       unscheduled,
		"a mock sandbox is at no provider, and its worker speaks":   mocked,
		"two sandboxes of one task: who made it and who validates":  validated,
	}
}

func iterates(w *world) {
	company(w)
	j := omoiWorker(w, "running", 50*time.Minute, 20*time.Second, nil)
	for _, ago := range []time.Duration{40, 25, 10} {
		j.says(w, "agent.completed", ago*time.Minute)
		j.says(w, "iteration.completed", ago*time.Minute-time.Second)
		j.says(w, "iteration.started", ago*time.Minute-2*time.Second)
	}
	busy(w, j)
	w.healthy("a worker in its fourth iteration", j.task, j.sandbox)
	w.unsuspected("a worker in its fourth iteration", j.id, "finished-unrecorded")
}

func dated(w *world) {
	company(w)
	j := omoiWorker(w, "running", 30*time.Minute, 5*time.Second, row{"deadline_at": 26 * time.Hour})
	busy(w, j)
	w.healthy("a worker whose task was due yesterday", j.task, j.sandbox)
	queued := omoiTask(w, "pending", row{"deadline_at": 26 * time.Hour, "sandbox_id": nil, "updated_at": 10 * time.Second})
	w.healthy("a pending task that was due yesterday", queued.task)
}

func embedded(w *world) {
	company(w)
	j := omoiWorker(w, "running", 30*time.Minute, 5*time.Second, row{"sandbox_id": nil, "assigned_agent_id": "agent-1"})
	busy(w, j)
	w.healthy("a worker whose row names no sandbox", j.task, j.sandbox)
}

func triedAgain(w *world) {
	company(w)
	old := row{"retry_count": 1, "started_at": 3 * time.Hour, "created_at": 4 * time.Hour, "timeout_seconds": 3600}
	j := omoiWorker(w, "running", 2*time.Minute, 5*time.Second, old)
	busy(w, j)
	w.healthy("a worker of a second attempt", j.task, j.sandbox)
	up := omoiTask(w, "assigned", old.with(row{"updated_at": 5 * time.Second}))
	omoiBox(w, &up, age(2*time.Minute, time.Second))
	w.then(2, func() {
		up.says(w, "agent.started", 50*time.Second)
		w.sql("UPDATE tasks SET status = 'running', updated_at = now() - interval '50 seconds' WHERE id = $1", up.id)
		busy(w, up)
	})
	w.healthy("a second attempt that begins", up.task, up.sandbox)
	queued := omoiTask(w, "pending", old.with(row{"sandbox_id": nil, "updated_at": 20 * time.Second}))
	w.healthy("a task that waits for its second attempt", queued.task)
}

func unscheduled(w *world) {
	company(w)
	for range 3 {
		j := omoiTask(w, "pending", row{"sandbox_id": nil, "created_at": 7 * time.Hour, "updated_at": 7 * time.Hour})
		w.sql("UPDATE projects SET autonomous_execution_enabled = false WHERE id = $1", "p-"+j.id)
		w.healthy("a pending task of a project that starts nothing by itself", j.task)
	}
}

func mocked(w *world) {
	company(w)
	j := omoiTask(w, "running", row{"started_at": 10 * time.Minute, "updated_at": 10 * time.Minute})
	j.says(w, "agent.started", 10*time.Minute)
	busy(w, j)
	w.healthy("a task with a mock sandbox", j.task)
}

func validated(w *world) {
	company(w)
	for _, status := range []string{"running", "validating"} {
		j := omoiWorker(w, status, 30*time.Minute, 11*time.Minute, nil)
		j.says(w, "agent.completed", 10*time.Minute)
		waiting(w, j)
		second := j
		second.name = "omoios-" + j.id[:8] + "-valida"
		omoiBox(w, &second, age(5*time.Minute, 5*time.Second))
		second.says(w, "agent.started", 4*time.Minute)
		busy(w, second)
		w.healthy("a task that is "+status+", with its implementer and its validator", j.task, j.sandbox, second.sandbox)
	}
}

func omoiosWithoutTask() stories {
	lonely := func(what string, s simulated.Sandbox) func(*world) {
		return func(w *world) {
			company(w)
			id := w.cloud.Put(s).ID
			w.always(func() { w.active(id) })
			w.needed(what, id)
		}
	}
	old := age(50*time.Hour, time.Second)
	gateway, prototype := old, old
	gateway.Name, gateway.Labels = "gateway", map[string]string{"project": "omoios"}
	prototype.Name = "prototype-1"
	return stories{
		"a spec is worked out in a sandbox without a task": specified,
		"a gateway carries the project's label":            lonely("a gateway", gateway),
		"a prototype has no labels":                        lonely("a prototype", prototype),
		"stopped and archived sandboxes of finished tasks are kept": func(w *world) {
			company(w)
			for _, state := range []string{"stopped", "suspended"} {
				j := omoiTask(w, "completed", row{"started_at": 90 * time.Minute, "completed_at": time.Hour,
					"updated_at": time.Hour})
				omoiBox(w, &j, age(2*time.Hour, time.Hour))
				w.cloud.Change(j.sandbox, func(s *simulated.Sandbox) { s.Ephemeral, s.State = false, "stopped" })
				if state == "suspended" {
					w.cloud.Change(j.sandbox, func(s *simulated.Sandbox) { s.State, s.Raw = "suspended", "archived" })
				}
				w.healthy("a finished task whose sandbox is "+state, j.task, j.sandbox)
			}
		},
	}
}

func specified(w *world) {
	company(w)
	id := newID()
	w.insert("projects", row{"id": "p-" + id, "name": "shop"})
	w.insert("specs", row{"id": id, "project_id": "p-" + id, "title": "checkout", "status": "executing",
		"current_phase": "design"})
	j := job{task: task{id: id}, name: "spec-" + id[:8] + "-design"}
	s := age(40*time.Minute, time.Second)
	s.Name, s.Labels = j.name, map[string]string{"project": "omoios", "type": "spec_phase", "spec_id": id,
		"phase": "design", "project_id": "p-" + id}
	j.sandbox = w.cloud.Put(s).ID
	j.reports(w, "agent.started", 39*time.Minute, fmt.Sprintf(`{"spec_id": %q}`, id))
	w.always(func() {
		j.reports(w, "agent.heartbeat", 3*time.Second, fmt.Sprintf(`{"spec_id": %q}`, id))
		w.active(j.sandbox)
	})
	w.needed("a spec that executes", j.sandbox)
}
