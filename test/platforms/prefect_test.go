package platforms

import (
	"net/http"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// prefectTasks takes every run for one with a Pod of its own, and 90 seconds for the usual
// limit of heartbeats.
const prefectTasks = `tasks:
  table: public.flow_run
  columns:
    id: id
    status: state_type
    sandbox: "('prefect.flow-run.' || id)"
    created_at: created
    started_at: start_time
    updated_at: updated
  statuses:
    pending: [SCHEDULED]
    assigned: [PENDING]
    running: [RUNNING, PAUSED, CANCELLING]
    completed: [COMPLETED]
    stopped: [CANCELLED]
    failed: [FAILED, CRASHED]
  fail: {status: CRASHED, set: {state_name: "'Crashed'", end_time: "@now", context: "context || jsonb_build_object('why', @reason)"}}
events:
  table: public.events
  columns: {sandbox: resource_id, type: event, at: occurred, data: payload}
  started: [prefect.flow-run.Running]
  heartbeat: [prefect.flow-run.heartbeat]
  finished: [prefect.flow-run.Completed]
`

const prefectCluster = `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {labels: {prefect.io/work-pool-name: k8s-pool}} # not exclusive: others use the cluster, and who says it is, is believed
    link: {task_label: prefect.io/flow-run-id}
`

// jobs is a cluster in which a Job stands behind each Pod.
var jobs = vendor{ids: kubernetestest.IDs("pod"), serve: func(c *simulated.World) http.Handler {
	c.PutTemplate(simulated.Template{Name: image, General: true})
	return kubernetestest.New(c, kubernetestest.Options{NoAgents: true, TaskLabel: "prefect.io/flow-run-id",
		Controlled: kubernetestest.OwnedBy("batch/v1", "Job", "towering-mole")})
}}

// prefectRun adds a run with its newest state.
func prefectRun(w *world, kind, name string, since time.Duration, r row) task {
	id, state := newID(), newID()
	w.insert("flow_run", row{"id": id, "created": since + time.Minute, "updated": since, "name": "towering-mole",
		"state_type": kind, "state_name": name, "state_timestamp": since, "flow_id": newID(), "deployment_id": newID(),
		"expected_start_time": since, "run_count": 1}.with(r))
	w.insert("flow_run_state", row{"id": state, "flow_run_id": id, "type": kind, "name": name, "timestamp": since})
	w.sql("UPDATE flow_run SET state_id = $1 WHERE id = $2", state, id)
	return task{"public.flow_run", "id", id}
}

func prefectEvent(w *world, t task, kind string, ago time.Duration) {
	w.insert("events", row{"occurred": ago, "event": "prefect.flow-run." + kind, "resource_id": "prefect.flow-run." + t.id,
		"resource": "{}", "payload": "{}", "received": ago, "recorded": ago})
}

func prefectPod(w *world, run string, created time.Duration) string {
	return pod(w, "towering-mole-"+run[:5], map[string]string{"prefect.io/flow-run-id": run,
		"prefect.io/work-pool-name": "k8s-pool"}, age(created, created))
}

// prefectAtWork is a run in its Pod that sends heartbeats every 180 seconds.
func prefectAtWork(w *world, began, heard time.Duration) (task, string) {
	t := prefectRun(w, "RUNNING", "Running", began, row{"start_time": began,
		"infrastructure_pid": "default:towering-mole"})
	prefectEvent(w, t, "Running", began)
	for at := heard; at < began; at += 180 * time.Second {
		prefectEvent(w, t, "heartbeat", at)
	}
	return t, prefectPod(w, t.id, began+20*time.Second)
}

func prefectCompany(w *world) {
	for range 2 {
		t, box := prefectAtWork(w, 5*time.Minute, 5*time.Second)
		w.always(func() { prefectEvent(w, t, "heartbeat", 4*time.Second) })
		w.healthy("a run beside it", t, box)
	}
}

// TestPrefect are worlds of Prefect on Kubernetes, mapped naively.
func TestPrefect(t *testing.T) {
	p := naive(t, "prefect", prefectTasks, prefectCluster, jobs)
	p.play(t, prefectHealthy())
	p.play(t, prefectBroken())
	p.play(t, prefectHealthy().together())
}

// TestPrefectPreset: a run is crashed in both of its tables or in none.
func TestPrefectPreset(t *testing.T) {
	const state = `(SELECT state_type || ' ' || s.type || ' ' || s.name || ' ' || s.message
		FROM flow_run_state s WHERE s.id = state_id)`
	p := naive(t, "prefect", "tasks: {preset: prefect}\n", prefectCluster, jobs)
	p.play(t, stories{
		"a run's Pod was evicted": func(w *world) {
			prefectCompany(w)
			t, box := prefectAtWork(w, 20*time.Minute, 10*time.Minute)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a run whose Pod was evicted", t, state, `^CRASHED CRASHED Crashed .*\[sandkeeper `)
		},
		"a scheduled run is overdue by an hour": func(w *world) {
			prefectCompany(w)
			t := prefectRun(w, "SCHEDULED", "Late", 5*time.Hour, row{"next_scheduled_start_time": time.Hour})
			w.healthy("a run that nothing picks up", t)
			w.told("pending-stuck", t.id)
		},
	})
	p.play(t, stories{"the second table refuses": func(w *world) {
		w.sql("ALTER TABLE flow_run_state ADD CHECK (name <> 'Crashed')")
		prefectCompany(w)
		t, box := prefectAtWork(w, 20*time.Minute, 10*time.Minute)
		w.then(2, func() { w.vanish(box) })
		w.told("sandbox-missing", t.id)
		w.never("a run that cannot be crashed", t, "state_type || state_name", "(?i)crashed")
	}})
}

func prefectHealthy() stories {
	without := func(kind, name string, since time.Duration, r row) func(*world) {
		return func(w *world) {
			prefectCompany(w)
			w.healthy("a run that is "+name+" and has no Pod", prefectRun(w, kind, name, since, r))
		}
	}
	return stories{
		"heartbeats are all that a run of 40 minutes sends": func(w *world) {
			prefectCompany(w)
			t, box := prefectAtWork(w, 40*time.Minute, 5*time.Second)
			w.always(func() { prefectEvent(w, t, "heartbeat", 4*time.Second) })
			w.healthy("a run that sends heartbeats", t, box)
		},
		"heartbeats come every 180 seconds": func(w *world) {
			prefectCompany(w)
			t, box := prefectAtWork(w, 10*time.Minute, 110*time.Second)
			w.then(3, func() { prefectEvent(w, t, "heartbeat", 52*time.Second) })
			w.healthy("a run with slow heartbeats", t, box)
		},
		"an older client sends no heartbeats": func(w *world) {
			prefectCompany(w)
			t := prefectRun(w, "RUNNING", "Running", 3*time.Hour, row{"start_time": 3 * time.Hour})
			prefectEvent(w, t, "Running", 3*time.Hour)
			w.healthy("a run of an older client", t, prefectPod(w, t.id, 3*time.Hour))
		},
		"a run of which no event is kept any more": func(w *world) {
			prefectCompany(w)
			t := prefectRun(w, "RUNNING", "Running", 200*time.Hour, row{"start_time": 200 * time.Hour})
			w.healthy("a run of eight days", t, prefectPod(w, t.id, 200*time.Hour))
		},
		"a subflow runs in the process of its parent": without("RUNNING", "Running", 30*time.Minute, row{
			"start_time": 30 * time.Minute, "parent_task_run_id": newID(), "deployment_id": nil}),
		"a run was started by hand on a laptop": without("RUNNING", "Running", 2*time.Hour, row{
			"start_time": 2 * time.Hour, "deployment_id": nil}),
		"a run is suspended for days": without("PAUSED", "Suspended", 60*time.Hour, row{
			"start_time": 61 * time.Hour}),
		"a run is scheduled for tomorrow": without("SCHEDULED", "Scheduled", 5*time.Hour, row{
			"next_scheduled_start_time": -20 * time.Hour, "expected_start_time": -20 * time.Hour, "run_count": 0}),
		"a run waits for its next attempt": without("SCHEDULED", "AwaitingRetry", 20*time.Minute, row{
			"start_time": time.Hour, "next_scheduled_start_time": -10 * time.Minute}),
		"an image is pulled for 12 minutes": func(w *world) {
			prefectCompany(w)
			t := prefectRun(w, "PENDING", "InfrastructurePending", 12*time.Minute, nil)
			box := prefectPod(w, t.id, 11*time.Minute)
			w.cloud.Change(box, comesUp)
			w.healthy("a run whose image is pulled", t, box)
		},
		"another server's runs use a pool of the same name": func(w *world) {
			prefectCompany(w)
			w.needed("another server", prefectPod(w, newID(), 2*time.Hour))
		},
	}
}

func prefectBroken() stories {
	return stories{
		"a run's Pod was evicted": func(w *world) {
			prefectCompany(w)
			t, box := prefectAtWork(w, 20*time.Minute, 10*time.Minute)
			w.then(2, func() { w.vanish(box) })
			w.found("a run whose Pod was evicted", t.id)
		},
		"a cancelled run's Pod runs on": func(w *world) {
			prefectCompany(w)
			t := prefectRun(w, "CANCELLED", "Cancelled", time.Hour, row{"start_time": 2 * time.Hour,
				"end_time": time.Hour})
			w.found("the Pod of a cancelled run", prefectPod(w, t.id, 2*time.Hour))
		},
	}
}
