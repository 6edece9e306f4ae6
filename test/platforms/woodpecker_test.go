package platforms

import (
	"fmt"
	"testing"
	"time"
)

// woodpeckerTasks are the steps of Woodpecker's workflows: each has a Pod of its own while it runs, those behind it wait
// for it, and a person may have to approve a pipeline. What fails one is what Woodpecker writes when it kills a pipeline:
// the step, those that wait for it, their workflow and the pipeline. An agent speaks for many steps, and goes on when the
// Pod of one is gone: it is no heartbeat of theirs, but a step whose agent was not heard for ten minutes has failed.
const woodpeckerTasks = `tasks:
  from: |
    SELECT s.id, 'wp-' || s.uuid AS pod, s.error, to_timestamp(nullif(s.started, 0)) AS started,
           to_timestamp(nullif(s.finished, 0)) AS finished, to_timestamp(nullif(p.created, 0)) AS created,
           to_timestamp(coalesce(nullif(s.started, 0), p.created)) AS since,
           to_timestamp(nullif(a.last_contact, 0)) + interval '10 minutes' AS agent_lost,
           CASE WHEN p.status = 'blocked' THEN 'blocked'
                WHEN s.state = 'pending' AND w.state = 'running' THEN 'behind another'
                ELSE s.state END AS status
    FROM public.steps s
    JOIN public.pipelines p ON p.id = s.pipeline_id
    JOIN public.workflows w ON w.pipeline_id = s.pipeline_id AND w.pid = s.ppid
    LEFT JOIN public.agents a ON a.id = w.agent_id
  table: public.steps
  columns:
    id: id
    status: status
    sandbox: pod
    created_at: created
    started_at: started
    ended_at: finished
    keep_alive_until: (finished + interval '1 hour')
    state_since: since
    fails_at: agent_lost
    error: error
  statuses:
    pending: [pending]
    running: [running]
    waiting: [blocked, behind another]
    completed: [success, skipped]
    stopped: [killed, declined]
    failed: [failure, error]
  fail:
    set: {state: "'error'", error: "@reason", finished: "extract(epoch FROM @now)::bigint", exit_code: "1"}
    sql:
      - UPDATE public.steps SET state = 'skipped' WHERE state = 'pending' AND (pipeline_id, ppid) = (SELECT pipeline_id, ppid FROM public.steps WHERE id = @id::bigint)
      - UPDATE public.workflows w SET state = 'error', error = @reason, finished = extract(epoch FROM @now)::bigint FROM public.steps s WHERE s.id = @id::bigint AND w.pipeline_id = s.pipeline_id AND w.pid = s.ppid
      - UPDATE public.pipelines p SET status = 'error', finished = extract(epoch FROM @now)::bigint FROM public.steps s WHERE s.id = @id::bigint AND p.id = s.pipeline_id AND NOT EXISTS (SELECT FROM public.workflows o WHERE o.pipeline_id = p.id AND o.state IN ('pending', 'running'))
`

const woodpeckerCluster = `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {name_prefix: wp-, exclusive: true}
    link: {sandbox: name, required: true}
`

// A ciRun is a pipeline with one workflow.
type ciRun struct{ pipeline, workflow, agent int64 }

// woodpeckerRun adds a pipeline whose agent was heard so long ago.
func woodpeckerRun(w *world, status, workflow string, created, contact time.Duration) (r ciRun) {
	w.one(&r.agent, "INSERT INTO agents (name, last_contact, last_work) VALUES ('k8s', $1, $1) RETURNING id", epoch(contact))
	w.one(&r.pipeline, "INSERT INTO pipelines (status, created, started) VALUES ($1, $2, $2) RETURNING id", status, epoch(created))
	w.one(&r.workflow, `INSERT INTO workflows (pipeline_id, pid, state, started, finished, agent_id) VALUES ($1, 1, $2, $3, 0, $4)
		RETURNING id`, r.pipeline, workflow, epoch(created), r.agent)
	return r
}

// woodpeckerHeard keeps a run's agent in contact.
func woodpeckerHeard(w *world, r ciRun) {
	w.always(func() { w.sql("UPDATE agents SET last_contact = $2 WHERE id = $1", r.agent, epoch(4*time.Second)) })
}

// woodpeckerStep adds a step; with a Pod while it runs.
func woodpeckerStep(w *world, r ciRun, state string, started time.Duration, box bool) (task, string) {
	uuid, id := newID(), int64(0)
	at := int64(0)
	if started > 0 {
		at = epoch(started)
	}
	w.one(&id, `INSERT INTO steps (uuid, pipeline_id, pid, ppid, name, state, started, finished, type)
		VALUES ($1, $2, (SELECT 2 + count(*) FROM steps WHERE pipeline_id = $2), 1, 'test', $3, $4, 0, 'commands') RETURNING id`,
		uuid, r.pipeline, state, at)
	t := task{"public.steps", "id", fmt.Sprint(id)}
	if !box {
		return t, ""
	}
	return t, pod(w, "wp-"+uuid, nil, age(started+5*time.Second, started))
}

func woodpeckerCompany(w *world) {
	for range 3 {
		r := woodpeckerRun(w, "running", "running", 12*time.Minute, 4*time.Second)
		woodpeckerHeard(w, r)
		t, box := woodpeckerStep(w, r, "running", 10*time.Minute, true)
		w.healthy("a step beside it", t, box)
		t, _ = woodpeckerStep(w, r, "pending", 0, false)
		w.healthy("a step behind it", t)
	}
}

// TestWoodpecker are worlds of Woodpecker on Kubernetes.
func TestWoodpecker(t *testing.T) {
	p := naive(t, "woodpecker", woodpeckerTasks, woodpeckerCluster, cluster)
	p.epochs = []string{"pipelines.created", "pipelines.started", "pipelines.finished", "workflows.started", "workflows.finished",
		"steps.started", "steps.finished", "agents.last_contact"}
	p.play(t, woodpeckerHealthy())
	p.play(t, woodpeckerHealthy().together())
	p.play(t, woodpeckerBroken())
}

func woodpeckerHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			woodpeckerCompany(w)
			w.checked()
		},
		"a pipeline waits for a person for days": func(w *world) {
			woodpeckerCompany(w)
			t, _ := woodpeckerStep(w, woodpeckerRun(w, "blocked", "blocked", 70*time.Hour, 9*time.Hour), "blocked", 0, false)
			w.healthy("a step that waits for a person", t)
		},
		"a step waits behind one that takes two hours": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "running", "running", 2*time.Hour, 4*time.Second)
			woodpeckerHeard(w, r)
			t, box := woodpeckerStep(w, r, "running", 2*time.Hour, true)
			w.healthy("a step that takes long", t, box)
			t, _ = woodpeckerStep(w, r, "pending", 0, false)
			w.healthy("a step behind it", t)
		},
		"a service runs beside the steps": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "running", "running", time.Hour, 4*time.Second)
			woodpeckerHeard(w, r)
			for range 2 {
				t, box := woodpeckerStep(w, r, "running", time.Hour, true)
				w.healthy("a service", t, box)
			}
		},
		"a pipeline is queued for five minutes": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "pending", "pending", 5*time.Minute, 9*time.Hour)
			w.sql("UPDATE workflows SET agent_id = 0, started = 0 WHERE id = $1", r.workflow)
			t, _ := woodpeckerStep(w, r, "pending", 0, false)
			w.healthy("a step that is queued", t)
		},
		"a step is over and its Pod is going": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "running", "running", time.Hour, 4*time.Second)
			woodpeckerHeard(w, r)
			t, box := woodpeckerStep(w, r, "success", 20*time.Minute, true)
			w.sql("UPDATE steps SET finished = $2 WHERE id::text = $1", t.id, epoch(30*time.Second))
			w.healthy("a step that is over", t, box)
		},
		"a step was started a moment ago and its Pod is not there": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "running", "running", time.Minute, 4*time.Second)
			woodpeckerHeard(w, r)
			t, _ := woodpeckerStep(w, r, "running", time.Second, false)
			uuid := w.text("SELECT uuid FROM steps WHERE id::text = $1", t.id)
			w.healthy("a step that was just started", t)
			w.then(2, func() { pod(w, "wp-"+uuid, nil, age(30*time.Second, 30*time.Second)) })
		},
	}
}

func woodpeckerBroken() stories {
	const all = `state || ' ' || error || ' / ' || (SELECT w.state || ' ' || p.status FROM workflows w JOIN pipelines p ON p.id = w.pipeline_id
		WHERE w.pipeline_id = steps.pipeline_id)`
	return stories{
		"a step's Pod was evicted": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "running", "running", 30*time.Minute, 4*time.Second)
			woodpeckerHeard(w, r)
			t, box := woodpeckerStep(w, r, "running", 20*time.Minute, true)
			behind, _ := woodpeckerStep(w, r, "pending", 0, false)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a step whose Pod was evicted", t, all, `^error sandbox is gone: .* \[sandkeeper .*\] / error error$`)
			w.becomes("a step behind it", behind, "state", "^skipped$")
		},
		"an agent is dead for an hour and its Pod runs on": func(w *world) {
			woodpeckerCompany(w)
			t, box := woodpeckerStep(w, woodpeckerRun(w, "running", "running", 3*time.Hour, time.Hour), "running", 2*time.Hour, true)
			w.becomes("a step whose agent is dead", t, all, `^error .* / error error$`)
			w.ends("a step whose agent is dead", box)
		},
		"a Pod is of no step": func(w *world) {
			woodpeckerCompany(w)
			box := pod(w, "wp-"+newID(), nil, age(9*time.Hour, 9*time.Hour))
			w.ends("a step that nobody knows", box)
		},
		"a step is over and its Pod runs for five hours": func(w *world) {
			woodpeckerCompany(w)
			t, box := woodpeckerStep(w, woodpeckerRun(w, "success", "success", 7*time.Hour, 4*time.Second), "success", 6*time.Hour, true)
			w.sql("UPDATE steps SET finished = $2 WHERE id::text = $1", t.id, epoch(5*time.Hour))
			w.ends("a step that is over", box)
		},
		"a pipeline is queued for hours": func(w *world) {
			woodpeckerCompany(w)
			r := woodpeckerRun(w, "pending", "pending", 5*time.Hour, 9*time.Hour)
			w.sql("UPDATE workflows SET agent_id = 0, started = 0 WHERE id = $1", r.workflow)
			t, _ := woodpeckerStep(w, r, "pending", 0, false)
			w.healthy("a step that nothing takes", t)
			w.told("pending-stuck", t.id)
		},
	}
}
