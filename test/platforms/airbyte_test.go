package platforms

import (
	"testing"
	"time"
)

// airbyteTasks are the workloads of Airbyte: a Pod's label is not the workload's id but another of its columns, which
// cluster it is in stands in the row, and one deadline is moved on by whoever is to do the next thing.
const airbyteTasks = `tasks:
  table: public.workload
  columns:
    id: auto_id
    status: status
    provider: dataplane_id
    created_at: created_at
    updated_at: updated_at
    state_since: updated_at
    heartbeat_at: last_heartbeat_at
    fails_at: deadline
    keep_alive_until: (updated_at + interval '10 minutes')
    error: termination_reason
  statuses:
    pending: [pending]
    assigned: [claimed, launched]
    running: [running]
    completed: [success]
    stopped: [cancelled]
    failed: [failure]
  fail:
    status: failure
    set: {termination_source: "'sandkeeper'", termination_reason: "@reason", updated_at: "@now", deadline: "NULL"}
rules:
  heartbeat-lost: {after: 5m}
`

const airbytePlanes = `providers:
  - name: "{each}"
    each: [plane-us, plane-eu]
    kind: kubernetes
    url: ${PROVIDER_URL}/{each}
    token: key
    namespace: default
    owns: {labels: {airbyte: job-pod}}
    link: {task_label: auto_id}
`

var planes = vendor{ids: cluster.ids, serve: cluster.serve, engines: []string{"plane-us", "plane-eu"}}

// airbyteWork adds a workload, without a Pod.
func airbyteWork(w *world, plane any, status string, created time.Duration, r row) task {
	auto := newID()
	w.insert("workload", row{"id": "conn_" + auto[:8] + "_7_0_sync", "dataplane_id": plane, "status": status,
		"input_payload": "{}", "created_at": created, "updated_at": created, "log_path": "/", "type": "sync",
		"auto_id": auto, "deadline": -time.Hour}.with(r))
	return task{"public.workload", "auto_id", auto}
}

func airbytePod(w *world, plane string, t task, created time.Duration) (box string) {
	w.at(plane, func() {
		box = pod(w, "replication-job-"+t.id[:8], map[string]string{"airbyte": "job-pod", "auto_id": t.id}, age(created, created))
	})
	return box
}

// airbyteSync is a workload whose Pod beats, and moves its deadline on.
func airbyteSync(w *world, what, plane string, began time.Duration) {
	t := airbyteWork(w, plane, "running", began, row{"last_heartbeat_at": 5 * time.Second, "deadline": -5 * time.Minute})
	w.always(func() {
		w.sql(`UPDATE workload SET last_heartbeat_at = now() - interval '4 seconds', deadline = now() + interval '5 minutes'
			WHERE auto_id::text = $1`, t.id)
	})
	w.healthy(what, t, airbytePod(w, plane, t, began))
}

func airbyteCompany(w *world) {
	for _, plane := range planes.engines {
		airbyteSync(w, "a sync beside it", plane, 40*time.Minute)
		airbyteSync(w, "a sync beside it", plane, 3*time.Hour)
	}
}

// TestAirbyte are worlds of Airbyte with two data planes.
func TestAirbyte(t *testing.T) {
	p := naive(t, "airbyte", airbyteTasks, airbytePlanes, planes)
	p.play(t, airbyteHealthy())
	p.play(t, airbyteHealthy().together())
	p.play(t, airbyteBroken())
}

func airbyteHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			airbyteCompany(w)
			w.checked()
		},
		"workloads wait for a data plane": func(w *world) {
			airbyteCompany(w)
			w.healthy("a workload that waits", airbyteWork(w, nil, "pending", 20*time.Minute, nil))
		},
		"an image is pulled for 15 minutes": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-eu", "claimed", 15*time.Minute, row{"deadline": -10 * time.Minute})
			box := airbytePod(w, "plane-eu", t, 14*time.Minute)
			w.at("plane-eu", func() { w.cloud.Change(box, comesUp) })
			w.healthy("a workload whose image is pulled", t, box)
		},
		"a sync runs for a day": func(w *world) {
			airbyteCompany(w)
			airbyteSync(w, "a long sync", "plane-us", 26*time.Hour)
		},
		"a workload was launched a minute ago": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-us", "launched", time.Minute, row{"deadline": -4 * time.Minute})
			w.healthy("a workload that was just launched", t, airbytePod(w, "plane-us", t, 50*time.Second))
		},
		"a workload is over and its Pod is going": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-eu", "success", 2*time.Hour, row{"updated_at": time.Minute, "deadline": nil})
			w.healthy("a workload that is over", t, airbytePod(w, "plane-eu", t, 2*time.Hour))
		},
		"a data plane is in no config": func(w *world) {
			airbyteCompany(w)
			w.healthy("a workload elsewhere", airbyteWork(w, "plane-moon", "running", 3*time.Hour,
				row{"last_heartbeat_at": 40 * time.Minute, "deadline": time.Minute}))
		},
		"another release's jobs are in the cluster": func(w *world) {
			airbyteCompany(w)
			w.needed("another release's job", airbytePod(w, "plane-us", task{id: newID()}, 9*time.Hour))
		},
	}
}

func airbyteBroken() stories {
	const is = "status::text || ' ' || termination_source || ' ' || termination_reason || coalesce(deadline::text, '')"
	const failed = `^failure sandkeeper .* \[sandkeeper [^ ]*\]$`
	return stories{
		"a workload was claimed and never started": func(w *world) {
			airbyteCompany(w)
			w.becomes("a workload that never started", airbyteWork(w, "plane-us", "claimed", 40*time.Minute,
				row{"deadline": 20 * time.Minute}), is, failed)
		},
		"a sync's Pod was evicted": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-eu", "running", 3*time.Hour, row{"last_heartbeat_at": 10 * time.Minute,
				"deadline": 5 * time.Minute})
			box := airbytePod(w, "plane-eu", t, 3*time.Hour)
			w.then(2, func() { w.at("plane-eu", func() { w.vanish(box) }) })
			w.becomes("a sync whose Pod was evicted", t, is, failed)
		},
		"a sync hangs in its Pod": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-us", "running", 3*time.Hour, row{"last_heartbeat_at": 20 * time.Minute,
				"deadline": 15 * time.Minute})
			w.becomes("a sync that hangs", t, is, failed)
			w.ends("a sync that hangs", airbytePod(w, "plane-us", t, 3*time.Hour))
		},
		"a workload is over and its Pod runs for five hours": func(w *world) {
			airbyteCompany(w)
			t := airbyteWork(w, "plane-eu", "success", 9*time.Hour, row{"updated_at": 5 * time.Hour, "deadline": nil})
			w.ends("a workload that is over", airbytePod(w, "plane-eu", t, 9*time.Hour))
		},
		"nothing claims a workload for two hours": func(w *world) {
			airbyteCompany(w)
			w.becomes("a workload that nothing claims", airbyteWork(w, nil, "pending", 2*time.Hour, row{"deadline": time.Hour}),
				is, failed)
		},
	}
}
