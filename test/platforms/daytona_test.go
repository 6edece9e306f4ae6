package platforms

import (
	"testing"
	"time"
)

// The runners of the worlds of Daytona's own server; the last one is in no config.
const (
	runnerA = "0b6a1c1e-0000-4000-8000-00000000000a"
	runnerB = "0b6a1c1e-0000-4000-8000-00000000000b"
	runnerC = "0b6a1c1e-0000-4000-8000-00000000000c"
)

// daytonaTasks are the sandboxes of Daytona's own server: a row is a sandbox, its container has its id for a name, and
// the row says on which runner.
const daytonaTasks = `tasks:
  shape: workspace
  sandboxes: end
  table: public.sandbox
  columns:
    id: id
    status: state
    sandbox: id
    provider: '"runnerId"'
    tenant: '"organizationId"'
    created_at: '"createdAt"'
    updated_at: '"updatedAt"'
    activity_at: '"lastActivityAt"'
    error: '"errorReason"'
    sleeps_at: |-
      (CASE WHEN state = 'started' AND "autoStopInterval" > 0 THEN "lastActivityAt" + make_interval(mins => "autoStopInterval") END)
  statuses:
    assigned: [creating, restoring, starting, pulling_snapshot, building_snapshot, pending_build, unknown]
    running: [started]
    parked: [stopped, stopping, archived, archiving]
    stopped: [destroyed, destroying]
    failed: [error, build_failed]
  fail: {status: error, set: {'"errorReason"': "@reason", pending: "false", '"updatedAt"': "@now"}}
rules:
  stop-ignored: {remedy: terminate}
  awake: {after: 1m, remedy: stop}
`

const daytonaRunners = `providers:
  - name: runner-{each}
    each: [` + runnerA + `, ` + runnerB + `]
    rows: ["{each}"]
    kind: docker
    url: ${PROVIDER_URL}{each}
    owns: {referenced: true}
    link: {sandbox: name}
`

var runners = vendor{ids: engine.ids, socket: true, serve: engine.serve, engines: []string{runnerA, runnerB}}

// daytonaBox adds a sandbox with its container at a runner; state "" puts none.
func daytonaBox(w *world, runner, status, state string, created time.Duration, r row) (t task, box string) {
	id := newID()
	w.insert("sandbox", row{"id": id, "organizationId": ana, "runnerId": runner, "state": status, "osUser": "daytona",
		"desiredState": "started", "createdAt": created, "updatedAt": created, "lastActivityAt": time.Minute}.with(r))
	if state == "" {
		return task{"public.sandbox", "id", id}, ""
	}
	w.at(runner, func() {
		s := age(created, time.Minute)
		if s.Name, s.Template = id, image; state == "stopped" {
			s.State = "stopped"
		}
		box = w.cloud.Put(s).ID
	})
	return task{"public.sandbox", "id", id}, box
}

// daytonaUsed is a sandbox in which somebody works.
func daytonaUsed(w *world, what, runner string, created time.Duration) {
	t, box := daytonaBox(w, runner, "started", "running", created, nil)
	w.always(func() {
		w.sql(`UPDATE sandbox SET "lastActivityAt" = now() - interval '9 seconds' WHERE id = $1`, t.id)
	})
	w.healthy(what, t, box)
}

func daytonaCompany(w *world) {
	for _, runner := range []string{runnerA, runnerB} {
		daytonaUsed(w, "a sandbox beside it", runner, 5*time.Hour)
		daytonaUsed(w, "a sandbox beside it", runner, 50*time.Minute)
	}
}

// TestDaytonaServer are worlds of Daytona's own server with two runners.
func TestDaytonaServer(t *testing.T) {
	p := naive(t, "daytona", daytonaTasks, daytonaRunners, runners)
	p.play(t, daytonaHealthy())
	p.play(t, daytonaHealthy().together())
	p.play(t, daytonaBroken())
}

// TestDaytonaServerInShort is what is healthy of it at once, and what is repaired in three ways.
func TestDaytonaServerInShort(t *testing.T) {
	p := naive(t, "daytona", daytonaTasks, daytonaRunners, runners)
	p.play(t, daytonaHealthy().together())
	p.play(t, daytonaBroken().only("a container is gone while its row says started", "a stopped sandbox's container runs for hours",
		"a destroyed sandbox's container runs on"))
}

func daytonaHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			daytonaCompany(w)
			w.checked()
		},
		"stopped sandboxes rest for weeks, archived ones have no container": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerA, "stopped", "stopped", 400*time.Hour, row{"desiredState": "stopped"})
			w.healthy("a stopped sandbox", t, box)
			t, _ = daytonaBox(w, runnerB, "archived", "", 900*time.Hour, row{"desiredState": "archived", "runnerId": nil})
			w.healthy("an archived sandbox", t)
		},
		"a warm pool waits for days": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerA, "started", "running", 70*time.Hour, row{"autoStopInterval": 0,
				"organizationId": "00000000-0000-0000-0000-000000000000", "lastActivityAt": 70 * time.Hour})
			w.healthy("a sandbox of the warm pool", t, box)
		},
		"a sandbox without auto-stop is idle for days": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerB, "started", "running", 90*time.Hour, row{"autoStopInterval": 0,
				"lastActivityAt": 80 * time.Hour})
			w.healthy("a sandbox that never sleeps", t, box)
		},
		"a snapshot is pulled for 25 minutes": func(w *world) {
			daytonaCompany(w)
			t, _ := daytonaBox(w, runnerA, "pulling_snapshot", "", 25*time.Minute, row{"lastActivityAt": nil})
			w.healthy("a sandbox that is pulled", t)
		},
		"a runner is in no config": func(w *world) {
			daytonaCompany(w)
			t, _ := daytonaBox(w, runnerC, "started", "", 30*time.Hour, nil)
			w.healthy("a sandbox at a runner that nobody can see", t)
		},
		"a sandbox was idle for longer than it may, and its sweep comes in a minute": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerA, "started", "running", 9*time.Hour, row{"lastActivityAt": 16 * time.Minute})
			w.healthy("a sandbox that sleeps soon", t, box)
		},
		"the runner's own containers": func(w *world) {
			daytonaCompany(w)
			s := age(900*time.Hour, time.Second)
			s.Name, s.Template = "registry-proxy", "registry:2"
			w.needed("the runner's proxy", w.cloud.Put(s).ID)
		},
	}
}

func daytonaBroken() stories {
	return stories{
		"a container is gone while its row says started": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerB, "started", "running", 5*time.Hour, row{"lastActivityAt": 5 * time.Minute})
			w.then(2, func() { w.at(runnerB, func() { w.vanish(box) }) })
			w.becomes("a sandbox without its container", t, `state::text || ' ' || "errorReason"`, `^error sandbox is gone: .* \[sandkeeper `)
		},
		"a sandbox is created for two hours and nothing exists": func(w *world) {
			daytonaCompany(w)
			t, _ := daytonaBox(w, runnerA, "creating", "", 2*time.Hour, row{"lastActivityAt": nil})
			w.becomes("a sandbox that is never created", t, "state::text", "^error$")
		},
		"a destroyed sandbox's container runs on": func(w *world) {
			daytonaCompany(w)
			_, box := daytonaBox(w, runnerB, "destroyed", "running", 9*time.Hour, row{"desiredState": "destroyed",
				"updatedAt": 3 * time.Hour})
			w.ends("a destroyed sandbox", box)
		},
		"a stopped sandbox's container runs for hours": func(w *world) {
			daytonaCompany(w)
			_, box := daytonaBox(w, runnerA, "stopped", "running", 9*time.Hour, row{"desiredState": "stopped",
				"updatedAt": 6 * time.Hour, "lastActivityAt": 6 * time.Hour})
			w.rests("a stopped sandbox", box)
		},
		"an idle sandbox should have slept for hours": func(w *world) {
			daytonaCompany(w)
			t, box := daytonaBox(w, runnerB, "started", "running", 9*time.Hour, row{"lastActivityAt": 6 * time.Hour,
				"updatedAt": 6 * time.Hour})
			w.healthy("a sandbox whose row says that it runs", t, box)
			w.told("awake", box)
		},
	}
}
