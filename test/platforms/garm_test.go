package platforms

import (
	"testing"
	"time"
)

// garmTasks takes a runner for a task, and its columns for what they are called.
const garmTasks = `tasks:
  table: public.instances
  columns:
    id: id
    status: status
    sandbox: provider_id
    created_at: created_at
    updated_at: updated_at
    heartbeat_at: heartbeat
    deleted_at: deleted_at
  statuses:
    pending: [pending_create]
    assigned: [creating]
    running: [running]
    completed: [deleted]
    stopped: [stopped, pending_delete, pending_force_delete, deleting]
    failed: [error, unknown]
  fail: {status: error, set: {updated_at: "@now", provider_fault: "convert_to(@reason, 'UTF8')"}}
`

const garmCluster = `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {name_prefix: garm-, exclusive: true}
    link: {sandbox: name}
`

// garmRunner adds a runner, of a pool of its own that waits 20 minutes for it.
func garmRunner(w *world, status, runner string, unchanged time.Duration, r row) task {
	id, pool := newID(), newID()
	w.insert("pools", row{"id": pool, "created_at": 900 * time.Hour, "updated_at": 900 * time.Hour, "provider_name": "k8s",
		"runner_prefix": "garm", "max_runners": 10, "min_idle_runners": 2, "runner_bootstrap_timeout": 20, "enabled": true})
	w.insert("instances", row{"id": id, "created_at": unchanged + 2*time.Minute, "updated_at": unchanged,
		"provider_id": "garm-" + id[:12], "name": "garm-" + id[:12], "os_type": "linux", "os_arch": "amd64",
		"status": status, "runner_status": runner, "heartbeat": never, "create_attempt": 1, "generation": 1,
		"token_fetched": true, "pool_id": pool}.with(r))
	return task{"public.instances", "id", id}
}

func garmPod(w *world, name string, created time.Duration) string {
	return pod(w, name, nil, age(created, created))
}

// garmAtWork is a runner with its Pod, that works at a job.
func garmAtWork(w *world, unchanged time.Duration) (task, string) {
	t := garmRunner(w, "running", "active", unchanged, nil)
	w.insert("workflow_jobs", row{"workflow_job_id": 1, "action": "in_progress", "status": "in_progress", "name": "build",
		"started_at": unchanged, "completed_at": never, "instance_id": t.id, "created_at": unchanged,
		"updated_at": unchanged})
	return t, garmPod(w, "garm-"+t.id[:12], unchanged+2*time.Minute)
}

// garmCompany are two runners of a pool with an agent, whose heartbeats come.
func garmCompany(w *world) {
	for _, minutes := range []time.Duration{1, 3} {
		t, box := garmAtWork(w, minutes*time.Minute)
		w.always(func() {
			w.sql("UPDATE instances SET agent_id = 7, heartbeat = now() - interval '4 seconds' WHERE id::text = $1", t.id)
		})
		w.healthy("a runner beside it", t, box)
	}
}

// TestGARM are worlds of GARM on Kubernetes, mapped naively.
func TestGARM(t *testing.T) {
	p := naive(t, "garm", garmTasks, garmCluster, cluster)
	p.play(t, garmHealthy())
	p.play(t, garmBroken())
	p.play(t, garmHealthy().together())
}

func garmHealthy() stories {
	return stories{
		"no pool has an agent: every heartbeat is of the year 1": func(w *world) {
			for _, minutes := range []time.Duration{1, 30, 300} {
				t, box := garmAtWork(w, minutes*time.Minute)
				w.healthy("a runner at work", t, box)
			}
		},
		"idle runners wait for days and their heartbeat is of the year 1": func(w *world) {
			garmCompany(w)
			for range 2 {
				t := garmRunner(w, "running", "idle", 70*time.Hour, nil)
				w.healthy("an idle runner", t, garmPod(w, "garm-"+t.id[:12], 70*time.Hour))
			}
		},
		"a job works for five hours": func(w *world) {
			garmCompany(w)
			t, box := garmAtWork(w, 5*time.Hour)
			w.healthy("a runner at work", t, box)
		},
		"a runner is created for 15 to 18 minutes": func(w *world) {
			garmCompany(w)
			t := garmRunner(w, "creating", "installing", 15*time.Minute, row{"provider_id": nil})
			box := garmPod(w, "garm-"+t.id[:12], 14*time.Minute)
			w.cloud.Change(box, comesUp)
			w.healthy("a runner that is created", t, box)
		},
		"a runner installs itself for 15 to 18 minutes": func(w *world) {
			garmCompany(w)
			t := garmRunner(w, "running", "installing", 15*time.Minute, nil)
			w.healthy("a runner that installs itself", t, garmPod(w, "garm-"+t.id[:12], 16*time.Minute))
		},
		"runners are queued for 12 minutes": func(w *world) {
			garmCompany(w)
			w.healthy("a queued runner", garmRunner(w, "pending_create", "pending", 12*time.Minute, row{"provider_id": nil,
				"create_attempt": 0}))
		},
		"another controller's runners have the same prefix": func(w *world) {
			garmCompany(w)
			w.needed("another controller", garmPod(w, "garm-"+newID()[:12], 30*time.Hour))
		},
		"an agent beats every five minutes": func(w *world) {
			garmCompany(w)
			t := garmRunner(w, "running", "idle", 30*time.Hour, row{"heartbeat": 100 * time.Second, "agent_id": 7})
			w.healthy("a runner with an agent", t, garmPod(w, "garm-"+t.id[:12], 30*time.Hour))
		},
	}
}

func garmBroken() stories {
	return stories{
		"a runner's Pod is gone": func(w *world) {
			garmCompany(w)
			t, box := garmAtWork(w, 20*time.Minute)
			w.then(2, func() { w.vanish(box) })
			w.found("a runner without its Pod", t.id)
		},
		"a runner is to be deleted for three hours and its Pod runs on": func(w *world) {
			garmCompany(w)
			t := garmRunner(w, "pending_delete", "terminated", 3*time.Hour, nil)
			w.found("the Pod of a runner that is to be deleted", garmPod(w, "garm-"+t.id[:12], 5*time.Hour))
		},
		"a runner is created for two hours and nothing exists": func(w *world) {
			garmCompany(w)
			w.found("a runner that is never created", garmRunner(w, "creating", "pending", 2*time.Hour,
				row{"provider_id": nil}).id)
		},
	}
}
