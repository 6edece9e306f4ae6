package platforms

import (
	"testing"
	"time"
)

// coderTasks takes a workspace for a task that runs from a start to a stop, its use for
// activity, and its agent's connections for heartbeats.
const coderTasks = `tasks:
  table: public.workspaces
  columns:
    id: id
    status: deleted
    state: "(CASE WHEN deleted THEN 'completed' ELSE (SELECT CASE WHEN b.transition <> 'start' THEN 'stopped'
      WHEN j.job_status = 'succeeded' THEN 'running' WHEN j.job_status IN ('pending', 'running') THEN 'assigned'
      ELSE 'failed' END FROM public.workspace_builds b JOIN public.provisioner_jobs j ON j.id = b.job_id
      WHERE b.workspace_id = workspaces.id ORDER BY b.build_number DESC LIMIT 1) END)"
    created_at: created_at
    updated_at: updated_at
    activity_at: last_used_at
    deadline_at: "((SELECT b.deadline FROM public.workspace_builds b WHERE b.workspace_id = workspaces.id
      ORDER BY b.build_number DESC LIMIT 1))"
    heartbeat_at: "((SELECT max(a.last_connected_at) FROM public.workspace_agents a
      JOIN public.workspace_resources r ON r.id = a.resource_id
      JOIN public.workspace_builds b ON b.job_id = r.job_id WHERE b.workspace_id = workspaces.id))"
`

// coderJobs takes the one table that has a status: the builds' jobs, with the Pod's name.
const coderJobs = `tasks:
  table: public.provisioner_jobs
  where: "type = 'workspace_build'"
  columns:
    id: id
    status: job_status
    sandbox: "((SELECT 'coder-' || b.workspace_id FROM public.workspace_builds b WHERE b.job_id = provisioner_jobs.id))"
    created_at: created_at
    started_at: started_at
    updated_at: updated_at
    error: error
  statuses: {pending: [pending], running: [running], completed: [succeeded], stopped: [canceling, canceled], failed: [failed]}
`

func coderCluster(link string) string {
	return `providers:
  - name: cluster
    kind: kubernetes
    url: ${PROVIDER_URL}
    token: key
    namespace: default
    owns: {labels: {app.kubernetes.io/name: coder-workspace}} # not exclusive: others use the cluster, and who says it is, is believed
    link: ` + link + "\n"
}

const (
	never = "0001-01-01T00:00:00Z"
	ana   = "7b1e2f60-0000-4000-8000-0000000000aa"
	spare = "c42fdf75-3097-471c-8c33-fb52454d81c0" // the user who owns prebuilds
)

// A coderBuild is a workspace's newest build.
type coderBuild struct {
	transition string
	began      time.Duration
	job        row // what the job says besides
	deadline   any
	seen       time.Duration // when its agent was last connected; 0: it has none
}

// coderWorkspace adds a workspace with its newest build, and its job, resource and agent.
func coderWorkspace(w *world, b coderBuild, r row) task {
	id, job, resource := newID(), newID(), newID()
	created := b.began + time.Minute
	w.insert("workspaces", row{"id": id, "created_at": created, "updated_at": b.began, "owner_id": ana,
		"organization_id": newID(), "template_id": newID(), "name": "dev", "last_used_at": time.Minute}.with(r))
	w.insert("provisioner_jobs", row{"id": job, "created_at": b.began, "updated_at": b.began, "started_at": b.began,
		"organization_id": newID(), "initiator_id": ana, "provisioner": "terraform", "storage_method": "file",
		"type": "workspace_build", "input": "{}", "file_id": newID()}.with(b.job))
	build := row{"id": newID(), "created_at": b.began, "updated_at": b.began, "workspace_id": id,
		"template_version_id": newID(), "build_number": 7, "transition": b.transition, "initiator_id": ana, "job_id": job}
	if b.deadline != nil {
		build["deadline"] = b.deadline
	}
	w.insert("workspace_builds", build)
	w.insert("workspace_resources", row{"id": resource, "created_at": b.began, "job_id": job, "transition": b.transition,
		"type": "kubernetes_deployment", "name": "main"})
	if b.seen > 0 {
		w.insert("workspace_agents", row{"id": newID(), "created_at": b.began, "updated_at": b.seen, "name": "main",
			"first_connected_at": b.began, "last_connected_at": b.seen, "resource_id": resource, "auth_token": newID(),
			"lifecycle_state": "ready"})
	}
	return task{"public.workspaces", "id", id}
}

// done is a job that succeeded a minute after it began.
func done(began time.Duration) row {
	return row{"completed_at": began - time.Minute, "updated_at": began - time.Minute}
}

func coderPod(w *world, workspace string, created time.Duration) string {
	return pod(w, "coder-"+workspace, map[string]string{"app.kubernetes.io/name": "coder-workspace",
		"com.coder.workspace.id": workspace}, age(created, created))
}

// coderUsed is a workspace in use, with its Pod.
func coderUsed(w *world, b coderBuild, r row) (task, string) {
	t := coderWorkspace(w, b, r)
	return t, coderPod(w, t.id, b.began-30*time.Second)
}

func coderCompany(w *world) {
	for range 2 {
		t, box := coderUsed(w, coderBuild{transition: "start", began: 5 * time.Hour, job: done(5 * time.Hour),
			deadline: -4 * time.Hour, seen: 5 * time.Second}, nil)
		coderAlive(w, t, true)
		w.healthy("a workspace beside it", t, box)
	}
}

// coderAlive keeps a workspace's agent connected, and its user at work.
func coderAlive(w *world, t task, used bool) {
	w.always(func() {
		w.sql(`UPDATE workspace_agents a SET last_connected_at = now() - interval '4 seconds', updated_at = now()
			FROM workspace_resources r, workspace_builds b
			WHERE r.id = a.resource_id AND b.job_id = r.job_id AND b.workspace_id::text = $1`, t.id)
		if used {
			w.sql("UPDATE workspaces SET last_used_at = now() - interval '9 seconds' WHERE id::text = $1", t.id)
		}
	})
}

// TestCoder are worlds of Coder on Kubernetes, mapped naively.
func TestCoder(t *testing.T) {
	p := naive(t, "coder", coderTasks, coderCluster("{task_label: com.coder.workspace.id}"), cluster)
	p.play(t, coderHealthy())
	p.play(t, coderBroken())
	p.play(t, coderHealthy().together())
}

// TestCoderByJobs is Coder as the one who looks for a column called status maps it.
func TestCoderByJobs(t *testing.T) {
	naive(t, "coder", coderJobs, coderCluster("{sandbox: name}"), cluster).play(t, stories{
		"builds succeeded long ago and their workspaces are in use": coderCompany,
		"a start takes 12 minutes":                                  coderStarts,
	})
}

// TestCoderPreset: a status that no column holds is computed by a query, nothing is written, and nothing that a
// workspace explains is ended.
func TestCoderPreset(t *testing.T) {
	p := naive(t, "coder", "tasks: {preset: coder}\n", coderCluster("{task_label: com.coder.workspace.id}"), cluster)
	p.play(t, stories{
		"a running workspace's Pod is gone": func(w *world) {
			coderCompany(w)
			t, box := coderUsed(w, coderBuild{transition: "start", began: 9 * time.Hour, job: done(9 * time.Hour), seen: 10 * time.Minute}, nil)
			w.healthy("a workspace whose row is only read", t)
			w.then(2, func() { w.vanish(box) })
			w.told("sandbox-missing", t.id)
		},
	})
}

func coderStarts(w *world) {
	coderCompany(w)
	t := coderWorkspace(w, coderBuild{transition: "start", began: 12 * time.Minute}, row{"last_used_at": never})
	box := coderPod(w, t.id, 11*time.Minute)
	w.cloud.Change(box, comesUp)
	w.healthy("a workspace that starts", t, box)
}

func coderHealthy() stories {
	running := func(what string, began, seen time.Duration, deadline any, alive bool, r row) func(*world) {
		return func(w *world) {
			coderCompany(w)
			t, box := coderUsed(w, coderBuild{transition: "start", began: began, job: done(began), deadline: deadline,
				seen: seen}, r)
			if alive {
				coderAlive(w, t, false)
			}
			w.healthy(what, t, box)
		}
	}
	return stories{
		"a workspace is to be stopped for some minutes now": running("a workspace past its deadline", 9*time.Hour,
			5*time.Second, 3*time.Minute, true, row{"last_used_at": 10 * time.Minute}),
		"a prebuild runs for days and nobody ever used it": running("a prebuild", 80*time.Hour, 5*time.Second, nil, true,
			row{"owner_id": spare, "last_used_at": never}),
		"a user reads for an hour": running("a workspace in use", 9*time.Hour, 5*time.Second, -time.Hour, true,
			row{"last_used_at": time.Hour}),
		"an agent is not heard for 1½ to 4½ minutes because its CPUs are busy": running("a workspace with busy CPUs",
			9*time.Hour, 90*time.Second, -time.Hour, false, row{"last_used_at": 90 * time.Second}),
		"a start takes 12 minutes": coderStarts,
		"a stopped workspace has no Pod and its deadline is none": func(w *world) {
			coderCompany(w)
			w.healthy("a stopped workspace", coderWorkspace(w, coderBuild{transition: "stop", began: 50 * time.Hour,
				job: done(50 * time.Hour), deadline: never}, nil))
		},
		"a prebuild that failed is left as evidence": func(w *world) {
			coderCompany(w)
			t, box := coderUsed(w, coderBuild{transition: "start", began: 5 * time.Hour,
				job: row{"completed_at": 4 * time.Hour, "updated_at": 4 * time.Hour, "error": "agent did not connect"}},
				row{"owner_id": spare, "last_used_at": never})
			w.healthy("a prebuild that failed", t, box)
		},
		"another deployment's workspaces carry the same labels": func(w *world) {
			coderCompany(w)
			w.needed("another deployment", coderPod(w, newID(), 70*time.Hour), coderPod(w, newID(), 3*time.Hour))
		},
	}
}

func coderBroken() stories {
	return stories{
		"a workspace's Pod is gone while it runs": func(w *world) {
			coderCompany(w)
			t, box := coderUsed(w, coderBuild{transition: "start", began: 5 * time.Hour, job: done(5 * time.Hour),
				deadline: -4 * time.Hour, seen: 5 * time.Second}, nil)
			w.then(2, func() { w.vanish(box) })
			w.found("a workspace without its Pod", t.id)
		},
		"a deleted workspace's Pod runs on": func(w *world) {
			coderCompany(w)
			_, box := coderUsed(w, coderBuild{transition: "delete", began: 30 * time.Hour, job: done(30 * time.Hour)},
				row{"deleted": true, "last_used_at": 31 * time.Hour})
			w.found("the Pod of a deleted workspace", box)
		},
	}
}
