package platforms

import (
	"testing"
	"time"
)

// hatchetTasks are the tasks of Hatchet: one is its id and the time at which it was written, what state it is in is where
// its rows are, its worker runs many, and its end is an event.
const hatchetTasks = `tasks:
  shape: queue-workers
  from: |
    SELECT t.id, t.inserted_at, t.tenant_id, t.retry_count, t.internal_retry_count, w.name AS pod, w."lastHeartbeatAt" AS heard,
           y.retry_after, e.created_at AS over, r.timeout_at,
           CASE WHEN e.event_type IS NOT NULL THEN e.event_type::text
                WHEN t.initial_state <> 'QUEUED' THEN t.initial_state::text
                WHEN r.evicted_at IS NOT NULL THEN 'EVICTED'
                WHEN r.task_id IS NOT NULL THEN 'RUNNING'
                WHEN y.task_id IS NOT NULL THEN 'BACKOFF'
                ELSE 'QUEUED' END AS status
    FROM public.v1_task t
    LEFT JOIN public.v1_task_runtime r ON r.task_id = t.id AND r.task_inserted_at = t.inserted_at AND r.retry_count = t.retry_count
    LEFT JOIN public."Worker" w ON w.id = r.worker_id
    LEFT JOIN public.v1_retry_queue_item y ON y.task_id = t.id AND y.task_inserted_at = t.inserted_at
    LEFT JOIN LATERAL (SELECT * FROM public.v1_task_event v WHERE v.task_id = t.id AND v.task_inserted_at = t.inserted_at
                       AND v.retry_count = t.retry_count AND v.event_type IN ('COMPLETED', 'FAILED', 'CANCELLED')
                       ORDER BY v.id DESC LIMIT 1) e ON true
  table: public.v1_task
  columns:
    id: (id, inserted_at)
    status: status
    sandbox: pod
    tenant: tenant_id
    created_at: inserted_at
    state_since: inserted_at
    due_at: retry_after
    heartbeat_at: heard
    fails_at: (heard + interval '2 minutes')
    ended_at: over
    attempts: internal_retry_count
    max_attempts: (3)
  statuses:
    pending: [QUEUED, BACKOFF]
    running: [RUNNING]
    waiting: [EVICTED]
    completed: [COMPLETED, SKIPPED]
    stopped: [CANCELLED]
    failed: [FAILED]
  fail:
    sql:
      - INSERT INTO public.v1_task_event (tenant_id, task_id, task_inserted_at, retry_count, event_type, data) SELECT tenant_id, id, inserted_at, retry_count, 'FAILED', jsonb_build_object('error', @reason) FROM public.v1_task WHERE (id, inserted_at) = (@id_1::bigint, @id_2::timestamptz)
      - DELETE FROM public.v1_task_runtime WHERE (task_id, task_inserted_at) = (@id_1::bigint, @id_2::timestamptz)
  requeue:
    set: {retry_count: retry_count + 1, internal_retry_count: internal_retry_count + 1}
    sql:
      - DELETE FROM public.v1_task_runtime WHERE (task_id, task_inserted_at) = (@id_1::bigint, @id_2::timestamptz)
      - INSERT INTO public.v1_queue_item (tenant_id, queue, task_id, task_inserted_at, external_id, action_id, step_id, workflow_id, workflow_run_id, sticky, retry_count) SELECT tenant_id, queue, id, inserted_at, external_id, action_id, step_id, workflow_id, workflow_run_id, sticky, retry_count FROM public.v1_task WHERE (id, inserted_at) = (@id_1::bigint, @id_2::timestamptz)
  explained_by:
    - {table: 'public."Worker"', key: name, name: true, where: '"lastHeartbeatAt" > now() - interval ''10 minutes'''}
rules:
  deadline-exceeded: {remedy: requeue}
  heartbeat-lost: {remedy: requeue}
  sandbox-missing: {remedy: requeue}
`

const hatchetEngine = `providers:
  - name: engine
    kind: docker
    url: ${PROVIDER_URL}
    owns: {name_prefix: hatchet-worker-}
    link: {sandbox: name}
`

// hatchetWorker adds a worker in its container.
func hatchetWorker(w *world, heard time.Duration) (id, box string) {
	id = newID()
	name := "hatchet-worker-" + id[:8]
	w.insert("Worker", row{"id": id, "tenantId": ana, "lastHeartbeatAt": heard, "name": name, "isActive": true})
	s := age(30*time.Hour, time.Minute)
	s.Name, s.Template = name, image
	return id, w.cloud.Put(s).ID
}

func hatchetHeard(w *world, worker string) {
	w.always(func() {
		w.sql(`UPDATE "Worker" SET "lastHeartbeatAt" = (now() AT TIME ZONE 'UTC') - interval '3 seconds' WHERE id::text = $1`, worker)
	})
}

// hatchetTask adds a task that is queued, or runs on a worker.
func hatchetTask(w *world, worker string, inserted time.Duration, r row) task {
	external := newID()
	w.insert("v1_task", row{"inserted_at": inserted, "tenant_id": ana, "queue": "default", "action_id": "a", "step_id": newID(),
		"step_readable_id": "s", "workflow_id": newID(), "workflow_run_id": newID(), "schedule_timeout": "5m", "sticky": "NONE",
		"external_id": external, "display_name": "d", "input": "{}"}.with(r))
	if worker != "" {
		w.sql(`INSERT INTO v1_task_runtime (task_id, task_inserted_at, retry_count, worker_id, tenant_id, timeout_at)
			SELECT id, inserted_at, retry_count, $2::uuid, tenant_id, now() + interval '1 hour' FROM v1_task WHERE external_id::text = $1`,
			external, worker)
	}
	const key = "(id || '/' || inserted_at)"
	return task{"public.v1_task", key, w.text("SELECT "+key+" FROM v1_task WHERE external_id = $1", external)}
}

func hatchetCompany(w *world) {
	for range 2 {
		worker, box := hatchetWorker(w, 3*time.Second)
		hatchetHeard(w, worker)
		for range 2 {
			w.healthy("a task beside it", hatchetTask(w, worker, 20*time.Minute, nil), box)
		}
	}
}

// TestHatchet are worlds of Hatchet on Docker.
func TestHatchet(t *testing.T) {
	p := naive(t, "hatchet", hatchetTasks, hatchetEngine, engine)
	p.fixed = []string{"inserted_at", "task_inserted_at"}
	p.play(t, hatchetHealthy())
	p.play(t, hatchetHealthy().together())
	p.play(t, hatchetBroken())
}

// TestHatchetInShort is what is healthy of it at once, and one task of a silent worker.
func TestHatchetInShort(t *testing.T) {
	p := naive(t, "hatchet", hatchetTasks, hatchetEngine, engine)
	p.fixed = []string{"inserted_at", "task_inserted_at"}
	p.play(t, hatchetHealthy().together())
	p.play(t, hatchetBroken().only("a worker is not heard for ten minutes", "a task was reassigned three times"))
}

func hatchetHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			hatchetCompany(w)
			w.checked()
		},
		"a task runs for six hours": func(w *world) {
			hatchetCompany(w)
			worker, box := hatchetWorker(w, 3*time.Second)
			hatchetHeard(w, worker)
			w.healthy("a long task", hatchetTask(w, worker, 6*time.Hour, nil), box)
		},
		"a task is tried again in an hour": func(w *world) {
			hatchetCompany(w)
			t := hatchetTask(w, "", 3*time.Hour, nil)
			w.sql(`INSERT INTO v1_retry_queue_item SELECT id, inserted_at, retry_count, now() + interval '1 hour', tenant_id
				FROM v1_task WHERE id || '/' || inserted_at = $1`, t.id)
			w.healthy("a task in its back-off", t)
		},
		"a durable task was evicted and waits": func(w *world) {
			hatchetCompany(w)
			t := hatchetTask(w, newID(), 40*time.Hour, nil)
			w.sql(`UPDATE v1_task_runtime SET evicted_at = now() - interval '30 hours', worker_id = NULL
				FROM v1_task t WHERE t.id || '/' || t.inserted_at = $1 AND task_id = t.id`, t.id)
			w.healthy("a task that waits", t)
		},
		"a task is queued for three minutes": func(w *world) {
			hatchetCompany(w)
			w.healthy("a queued task", hatchetTask(w, "", 3*time.Minute, nil))
		},
		"a worker has nothing to do for a day": func(w *world) {
			hatchetCompany(w)
			worker, box := hatchetWorker(w, 3*time.Second)
			hatchetHeard(w, worker)
			w.needed("a worker without tasks", box)
		},
		"tasks are over and their worker goes on": func(w *world) {
			hatchetCompany(w)
			worker, box := hatchetWorker(w, 3*time.Second)
			hatchetHeard(w, worker)
			t := hatchetTask(w, "", 9*time.Hour, nil)
			w.sql(`INSERT INTO v1_task_event (tenant_id, task_id, task_inserted_at, retry_count, event_type, created_at)
				SELECT tenant_id, id, inserted_at, retry_count, 'COMPLETED', now() - interval '5 hours' FROM v1_task
				WHERE id || '/' || inserted_at = $1`, t.id)
			w.healthy("a task that is over", t, box)
		},
	}
}

func hatchetBroken() stories {
	const again = `retry_count::text || internal_retry_count || ' ' || (SELECT count(*) FROM v1_task_runtime r WHERE r.task_id = v1_task.id)
		|| ' ' || (SELECT count(*) FROM v1_queue_item q WHERE q.task_id = v1_task.id AND q.retry_count = v1_task.retry_count)`
	return stories{
		"a worker is not heard for ten minutes": func(w *world) {
			hatchetCompany(w)
			worker, box := hatchetWorker(w, 10*time.Minute)
			w.needed("a worker that is left", box)
			w.becomes("a task whose worker is silent", hatchetTask(w, worker, time.Hour, nil), again, "^11 0 1$")
		},
		"a worker's container is gone": func(w *world) {
			hatchetCompany(w)
			worker, box := hatchetWorker(w, 30*time.Second)
			t := hatchetTask(w, worker, time.Hour, nil)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a task whose worker is gone", t, again, "^11 0 1$")
		},
		"a task was reassigned three times": func(w *world) {
			hatchetCompany(w)
			worker, _ := hatchetWorker(w, 10*time.Minute)
			t := hatchetTask(w, worker, time.Hour, row{"retry_count": 3, "internal_retry_count": 3})
			w.becomes("a task that loops", t, `(SELECT event_type || ' ' || (data->>'error') FROM v1_task_event e WHERE e.task_id = v1_task.id)`,
				`^FAILED .*\[sandkeeper `)
		},
		"a task is queued for two hours": func(w *world) {
			hatchetCompany(w)
			t := hatchetTask(w, "", 2*time.Hour, nil)
			w.healthy("a task that nothing takes", t)
			w.told("pending-stuck", t.id)
		},
	}
}
