package platforms

import (
	"testing"
	"time"
)

// windmillTasks reads the queue and what is over; a job's sandbox is the Pod of the worker that has it, which other jobs
// follow each other in. What restarts one is what Windmill's own monitor does with jobs whose pings stopped.
const windmillTasks = `tasks:
  shape: queue-workers
  from: |
    SELECT q.id, q.workspace_id, q.created_at, q.started_at, q.scheduled_for, r.ping, p.worker_instance AS pod,
           coalesce(q.started_at, q.created_at) AS since,
           coalesce(z.counter, 0) AS restarts, NULL::timestamptz AS completed_at,
           CASE WHEN q.canceled_by IS NOT NULL THEN 'canceled'
                WHEN q.suspend > 0 THEN 'suspended'
                WHEN NOT q.running THEN 'queued'
                WHEN j.kind IN ('flow', 'flowpreview', 'flownode', 'singlestepflow') THEN 'flow'
                ELSE 'running' END AS status
    FROM public.v2_job_queue q
    JOIN public.v2_job j ON j.id = q.id
    LEFT JOIN public.v2_job_runtime r ON r.id = q.id
    LEFT JOIN public.worker_ping p ON p.worker = q.worker
    LEFT JOIN public.zombie_job_counter z ON z.job_id = q.id
    UNION ALL
    SELECT c.id, c.workspace_id, j.created_at, c.started_at, j.created_at, NULL, p.worker_instance, c.completed_at, 0, c.completed_at,
           c.status::text
    FROM public.v2_job_completed c
    JOIN public.v2_job j ON j.id = c.id
    LEFT JOIN public.worker_ping p ON p.worker = c.worker
  table: public.v2_job_queue
  columns:
    id: id
    status: status
    sandbox: pod
    tenant: workspace_id
    created_at: created_at
    started_at: started_at
    state_since: since
    due_at: scheduled_for
    heartbeat_at: ping
    fails_at: (ping + interval '2 minutes')
    ended_at: completed_at
    attempts: restarts
    max_attempts: (3)
  statuses:
    pending: [queued]
    running: [running]
    waiting: [flow, suspended]
    completed: [success, skipped]
    stopped: [canceled]
    failed: [failure]
  fail: none
  requeue:
    sql:
      - UPDATE public.v2_job_queue SET running = false, started_at = NULL WHERE id = @id::uuid
      - UPDATE public.v2_job_runtime SET ping = NULL WHERE id = @id::uuid
      - INSERT INTO public.zombie_job_counter (job_id, counter) VALUES (@id::uuid, 1) ON CONFLICT (job_id) DO UPDATE SET counter = zombie_job_counter.counter + 1
  explained_by:
    - {table: public.worker_ping, key: worker_instance, name: true, where: "ping_at > now() - interval '10 minutes'"}
rules:
  deadline-exceeded: {remedy: requeue}
  heartbeat-lost: {remedy: requeue}
  sandbox-missing: {remedy: requeue}
  assigned-stale: {remedy: requeue}
`

const windmillCluster = `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {labels: {app.kubernetes.io/component: worker}}
    link: {sandbox: name}
`

// windmillWorker adds a worker in a Pod of its own, and keeps it heard.
func windmillWorker(w *world, created time.Duration) (worker, box string) {
	name := "windmill-workers-default-" + newID()[:8]
	box = pod(w, name, map[string]string{"app.kubernetes.io/component": "worker"}, age(created, created))
	worker = "wk-default-" + name + "-" + newID()[:5]
	windmillPing(w, worker, name, 2*time.Second)
	w.always(func() {
		w.sql("UPDATE worker_ping SET ping_at = now() - interval '2 seconds' WHERE worker = $1", worker)
	})
	return worker, box
}

func windmillPing(w *world, worker, instance string, ago time.Duration) {
	w.insert("worker_ping", row{"worker": worker, "worker_instance": instance, "ping_at": ago, "started_at": 30 * time.Hour})
}

// windmillJob adds a job of the queue.
func windmillJob(w *world, kind string, ping any, r row) task {
	id := newID()
	w.insert("v2_job", row{"id": id, "workspace_id": "acme", "kind": kind, "created_at": 30 * time.Hour})
	w.insert("v2_job_queue", row{"id": id, "workspace_id": "acme", "created_at": time.Hour, "scheduled_for": time.Hour}.with(r))
	w.insert("v2_job_runtime", row{"id": id, "ping": ping})
	return task{"public.v2_job_queue", "id", id}
}

// windmillAtWork is a job that its worker pings for.
func windmillAtWork(w *world, what, worker string, began time.Duration) {
	t := windmillJob(w, "script", 3*time.Second, row{"running": true, "started_at": began, "worker": worker})
	w.always(func() {
		w.sql("UPDATE v2_job_runtime SET ping = now() - interval '3 seconds' WHERE id::text = $1", t.id)
	})
	w.healthy(what, t)
}

func windmillCompany(w *world) {
	for range 3 {
		worker, box := windmillWorker(w, 30*time.Hour)
		windmillAtWork(w, "a job beside it", worker, 20*time.Minute)
		w.needed("a worker beside it", box)
	}
}

// TestWindmill are worlds of Windmill on Kubernetes.
func TestWindmill(t *testing.T) {
	p := naive(t, "windmill", windmillTasks, windmillCluster, cluster)
	p.play(t, windmillHealthy())
	p.play(t, windmillHealthy().together())
	p.play(t, windmillBroken())
}

func windmillHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			windmillCompany(w)
			w.checked()
		},
		"jobs are scheduled for tomorrow, and one for a minute ago": func(w *world) {
			windmillCompany(w)
			w.healthy("a job of tomorrow", windmillJob(w, "script", nil, row{"scheduled_for": -20 * time.Hour}))
			w.healthy("a job that is due", windmillJob(w, "script", nil, row{"created_at": time.Minute, "scheduled_for": time.Minute}))
		},
		"a flow waits for its steps, and one for an approval": func(w *world) {
			windmillCompany(w)
			w.healthy("a flow", windmillJob(w, "flow", 6*time.Hour, row{"running": true, "started_at": 6 * time.Hour}))
			w.healthy("a flow that waits for a person", windmillJob(w, "flow", 40*time.Hour, row{"running": true,
				"started_at": 40 * time.Hour, "suspend": 1, "suspend_until": -8 * time.Hour}))
		},
		"a worker is idle for hours": func(w *world) {
			windmillCompany(w)
			_, box := windmillWorker(w, 70*time.Hour)
			w.needed("an idle worker", box)
		},
		"a Pod has two workers that share it": func(w *world) {
			windmillCompany(w)
			worker, box := windmillWorker(w, 9*time.Hour)
			second := worker + "-2"
			windmillPing(w, second, w.text("SELECT worker_instance FROM worker_ping WHERE worker = $1", worker), 2*time.Second)
			windmillAtWork(w, "a job", worker, 3*time.Hour)
			windmillAtWork(w, "a second job", second, 2*time.Hour)
			w.needed("a shared worker", box)
		},
		"a job is over and its worker goes on": func(w *world) {
			windmillCompany(w)
			worker, box := windmillWorker(w, 9*time.Hour)
			id := newID()
			w.insert("v2_job", row{"id": id, "workspace_id": "acme", "created_at": 6 * time.Hour})
			w.insert("v2_job_completed", row{"id": id, "workspace_id": "acme", "duration_ms": 5, "status": "success",
				"started_at": 5 * time.Hour, "completed_at": 5 * time.Hour, "worker": worker})
			w.healthy("a job that is over", task{"public.v2_job_completed", "id", id}, box)
		},
		"a job was handed out a moment ago": func(w *world) {
			windmillCompany(w)
			worker, box := windmillWorker(w, 9*time.Hour)
			t := windmillJob(w, "script", nil, row{"running": true, "started_at": time.Second, "worker": worker, "created_at": 2 * time.Second,
				"scheduled_for": 2 * time.Second})
			w.then(2, func() {
				w.always(func() {
					w.sql("UPDATE v2_job_runtime SET ping = now() - interval '1 second' WHERE id::text = $1", t.id)
				})
			})
			w.needed("its worker", box)
			w.unsuspected("a job that was just handed out", t.id, "assigned-stale", "sandbox-missing")
		},
	}
}

func windmillBroken() stories {
	requeued := "running::text || ' ' || coalesce(started_at::text, 'none') || ' ' || " +
		"(SELECT counter FROM zombie_job_counter WHERE job_id = id)::text"
	return stories{
		"a worker's Pod was evicted": func(w *world) {
			windmillCompany(w)
			worker, box := windmillWorker(w, 9*time.Hour)
			t := windmillJob(w, "script", 20*time.Second, row{"running": true, "started_at": 2 * time.Hour, "worker": worker})
			w.then(2, func() { w.vanish(box) })
			w.becomes("a job whose worker was evicted", t, requeued, "^false none 1$")
		},
		"a worker hangs and its Pod runs": func(w *world) {
			windmillCompany(w)
			worker, box := windmillWorker(w, 9*time.Hour)
			t := windmillJob(w, "script", 5*time.Minute, row{"running": true, "started_at": 2 * time.Hour, "worker": worker})
			w.needed("a Pod in which other jobs may run", box)
			w.becomes("a job whose pings stopped", t, requeued, "^false none 1$")
		},
		"a job is due for an hour and nothing takes it": func(w *world) {
			windmillCompany(w)
			t := windmillJob(w, "script", nil, row{"tag": "gpu"})
			w.healthy("a job that nothing takes", t)
			w.told("pending-stuck", t.id)
		},
		"a worker's Pod runs and nobody hears it for a day": func(w *world) {
			windmillCompany(w)
			name := "windmill-workers-default-lost"
			box := pod(w, name, map[string]string{"app.kubernetes.io/component": "worker"}, age(40*time.Hour, 40*time.Hour))
			windmillPing(w, "wk-default-"+name+"-1", name, 24*time.Hour)
			w.needed("a worker that is told only", box)
			w.told("orphan", box)
		},
		"a job was restarted three times already": func(w *world) {
			windmillCompany(w)
			worker, _ := windmillWorker(w, 9*time.Hour)
			t := windmillJob(w, "script", 5*time.Minute, row{"running": true, "started_at": 2 * time.Hour, "worker": worker})
			w.insert("zombie_job_counter", row{"job_id": t.id, "counter": 3})
			w.found("a job that was restarted often", t.id)
		},
	}
}
