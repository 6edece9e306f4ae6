package platforms

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// triggerTasks takes the run's first name for its Pod's, and a column for the heartbeat that
// it is called.
const triggerTasks = `tasks:
  table: public."TaskRun"
  timezone: UTC
  columns:
    id: id
    status: status
    sandbox: "('runner-' || substr(\"friendlyId\", 5))"
    created_at: "\"createdAt\""
    started_at: "\"startedAt\""
    updated_at: "\"updatedAt\""
    heartbeat_at: "((SELECT max(s.\"lastHeartbeatAt\") FROM public.\"TaskRunExecutionSnapshot\" s WHERE s.\"runId\" = \"TaskRun\".id))"
    timeout: "(\"maxDurationInSeconds\" * interval '1 second')"
  statuses:
    pending: [DELAYED, PENDING, PENDING_VERSION, WAITING_FOR_DEPLOY]
    assigned: [DEQUEUED]
    running: [EXECUTING, WAITING_TO_RESUME, RETRYING_AFTER_FAILURE, PAUSED]
    completed: [COMPLETED_SUCCESSFULLY]
    stopped: [CANCELED, INTERRUPTED]
    failed: [COMPLETED_WITH_ERRORS, SYSTEM_FAILURE, CRASHED, EXPIRED, TIMED_OUT]
  fail: {status: SYSTEM_FAILURE, set: {statusReason: "@reason", completedAt: "@now"}}
`

const triggerCluster = `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {labels: {app: task-run}, exclusive: true}
    link: {sandbox: name}
`

// triggerRun adds a run with the newest snapshot of its execution.
func triggerRun(w *world, status, execution string, began time.Duration, r row) task {
	id := strings.ToLower(rand.Text()[:20])
	w.insert("public.TaskRun", row{"id": id, "friendlyId": "run_" + id, "engine": "V2", "status": status,
		"taskIdentifier": "resize", "payload": "{}", "traceId": "t", "spanId": "s", "runtimeEnvironmentId": "env_prod",
		"projectId": "proj_1", "queue": "task/resize", "createdAt": began + time.Minute, "updatedAt": began,
		"queuedAt": began + time.Minute}.with(r))
	w.insert("public.TaskRunExecutionSnapshot", row{"id": "snap_" + id, "executionStatus": execution,
		"description": "now", "runId": id, "runStatus": status, "environmentId": "env_prod", "environmentType": "PRODUCTION",
		"projectId": "proj_1", "organizationId": "org_1", "createdAt": began, "updatedAt": began, "runnerId": "runner-" + id})
	return task{"public.TaskRun", "id", id}
}

// triggerPod is a Pod by its name without runner-.
func triggerPod(w *world, name, env string, created time.Duration) string {
	return pod(w, "runner-"+name, map[string]string{"app": "task-run", "env": env, "org": "org_1", "project": "proj_1"},
		age(created, created))
}

// triggerAtWork is a run that executes in its first Pod.
func triggerAtWork(w *world, began time.Duration, r row) (task, string) {
	t := triggerRun(w, "EXECUTING", "EXECUTING", began, row{"startedAt": began, "executedAt": began}.with(r))
	return t, triggerPod(w, t.id, "env_prod", began+20*time.Second)
}

func triggerCompany(w *world) {
	for _, minutes := range []time.Duration{1, 4} {
		t, box := triggerAtWork(w, minutes*time.Minute, nil)
		w.healthy("a run beside it", t, box)
	}
}

// comesUp makes a Pod one whose image is being pulled.
func comesUp(s *simulated.Sandbox) { s.State = "creating" }

// TestTrigger are worlds of Trigger.dev on Kubernetes, mapped naively.
func TestTrigger(t *testing.T) {
	p := naive(t, "triggerdev", triggerTasks, triggerCluster, cluster)
	p.play(t, triggerHealthy())
	p.play(t, triggerBroken())
	p.play(t, triggerHealthy().together())
}

func triggerHealthy() stories {
	waits := func(status, execution string, began time.Duration, r row) func(*world) {
		return func(w *world) {
			triggerCompany(w)
			w.healthy("a run that is "+execution, triggerRun(w, status, execution, began, r))
		}
	}
	inPod := func(name func(t task) string) func(*world) {
		return func(w *world) {
			triggerCompany(w)
			began := 20 * time.Minute
			t := triggerRun(w, "EXECUTING", "EXECUTING", began, row{"startedAt": time.Hour, "executedAt": time.Hour,
				"attemptNumber": 2})
			w.healthy("a run in another Pod", t, triggerPod(w, name(t), "env_prod", began))
		}
	}
	return stories{
		"a run executes for three hours and nothing moves": func(w *world) {
			triggerCompany(w)
			t, box := triggerAtWork(w, 3*time.Hour, nil)
			w.healthy("a long run", t, box)
		},
		"a run waits for days and has no Pod": waits("WAITING_TO_RESUME", "SUSPENDED", 70*time.Hour,
			row{"startedAt": 71 * time.Hour}),
		"a run is delayed until tomorrow": waits("DELAYED", "DELAYED", 5*time.Hour, row{"delayUntil": -20 * time.Hour}),
		"a run waits for its next attempt": waits("RETRYING_AFTER_FAILURE", "QUEUED", 6*time.Minute,
			row{"startedAt": time.Hour}),
		"a second attempt runs in a Pod of another name": inPod(func(t task) string { return t.id + "-attempt-2" }),
		"a restored run is in a Pod of another name":     inPod(func(t task) string { return t.id + "-abcd1234" }),
		"a run was started warm in a Pod of another run": warm,
		"a Pod that finished its run waits for the next one": func(w *world) {
			triggerCompany(w)
			t := triggerRun(w, "COMPLETED_SUCCESSFULLY", "FINISHED", 15*time.Minute, row{"startedAt": 20 * time.Minute,
				"completedAt": 15 * time.Minute})
			w.needed("a warm start to come", triggerPod(w, t.id, "env_prod", 20*time.Minute))
		},
		"another environment's runs are in the same cluster": func(w *world) {
			triggerCompany(w)
			w.needed("another environment", triggerPod(w, strings.ToLower(rand.Text()[:20]), "env_staging", 2*time.Hour))
		},
	}
}

// warm is a run in the Pod that an earlier run left: only its snapshot tells.
func warm(w *world) {
	triggerCompany(w)
	first := triggerRun(w, "COMPLETED_SUCCESSFULLY", "FINISHED", 30*time.Minute, row{"startedAt": time.Hour,
		"completedAt": 30 * time.Minute})
	box := triggerPod(w, first.id, "env_prod", time.Hour)
	second := triggerRun(w, "EXECUTING", "EXECUTING", 25*time.Minute, row{"startedAt": 25 * time.Minute,
		"isWarmStart": true})
	w.sql(`UPDATE "TaskRunExecutionSnapshot" SET "runnerId" = $1 WHERE "runId" = $2`, "runner-"+first.id, second.id)
	w.healthy("a run that was started warm", second, box)
}

func triggerBroken() stories {
	return stories{
		"a run's Pod is gone": func(w *world) {
			triggerCompany(w)
			t, box := triggerAtWork(w, 10*time.Minute, nil)
			w.then(2, func() { w.vanish(box) })
			w.found("a run without its Pod", t.id)
		},
		"a cancelled run's Pod runs on": func(w *world) {
			triggerCompany(w)
			t, box := triggerAtWork(w, 2*time.Hour, nil)
			w.sql(`UPDATE "TaskRun" SET status = 'CANCELED', "completedAt" = timezone('UTC', now()) - interval '1 hour',
				"updatedAt" = timezone('UTC', now()) - interval '1 hour' WHERE id = $1`, t.id)
			w.found("the Pod of a cancelled run", box)
		},
	}
}
