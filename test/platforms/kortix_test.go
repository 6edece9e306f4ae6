package platforms

import (
	"net/http"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// kortixTasks takes stopped for over, a deadline for an end, and proxy traffic for work.
const kortixTasks = `tasks:
  table: kortix.session_sandboxes
  columns:
    id: sandbox_id
    status: status
    sandbox: external_id
    created_at: created_at
    started_at: "(CASE WHEN status = 'active' THEN active_since END)"
    updated_at: updated_at
    activity_at: last_used_at
    deadline_at: deadline_at
  statuses: {assigned: [provisioning], running: [active], stopped: [stopped], completed: [archived], failed: [error]}
  fail: {status: error, set: {updated_at: "@now", metadata: "metadata || jsonb_build_object('error', @reason)"}}
`

const kortixDaytona = `providers:
  - name: daytona
    kind: daytona
    url: ${PROVIDER_URL}
    token: key
    owns: {labels: {kortix.managed: "true"}, exclusive: true}
    link: {sandbox: id}
`

const kortixE2B = `providers:
  - name: e2b
    kind: e2b
    url: ${PROVIDER_URL}
    sandbox_url: ${PROVIDER_URL}
    token: key
    owns: {labels: {kortix.managed: "true"}, exclusive: true}
    link: {sandbox: id}
`

var e2b = vendor{ids: e2btest.ID, serve: func(c *simulated.World) http.Handler {
	return e2btest.New(c, e2btest.Options{Key: "key"})
}}

// kortixBox is a box of the production environment.
func kortixBox(w *world, s simulated.Sandbox) string {
	s.Labels = map[string]string{"kortix.managed": "true", "kortix.env": "prod"}
	return w.cloud.Put(s).ID
}

// kortixSession adds a session with its box.
func kortixSession(w *world, status, box string, r row) task {
	session, id := "s-"+newID(), newID()
	account, project := newID(), newID()
	words := map[string]string{"provisioning": "provisioning", "active": "running", "error": "failed"}
	word := words[status]
	if word == "" {
		word = "stopped"
	}
	w.insert("kortix.project_sessions", row{"session_id": session, "account_id": account, "project_id": project,
		"branch_name": session, "status": word, "sandbox_id": id})
	all := row{"sandbox_id": id, "session_id": session, "account_id": account, "project_id": project, "status": status,
		"created_at": 30 * time.Hour, "updated_at": time.Minute, "active_since": time.Hour, "last_used_at": time.Minute,
		"deadline_at": -14 * time.Minute}.with(r)
	if box != "" {
		all["external_id"] = box
	}
	w.insert("kortix.session_sandboxes", all)
	return task{"kortix.session_sandboxes", "sandbox_id", id}
}

// kortixCompany are two sessions in use.
func kortixCompany(w *world) {
	for range 2 {
		box := kortixBox(w, age(30*time.Hour, time.Second))
		t := kortixSession(w, "active", box, nil)
		w.always(func() {
			w.sql(`UPDATE kortix.session_sandboxes SET last_used_at = now() - interval '2 seconds',
				deadline_at = now() + interval '15 minutes' WHERE sandbox_id::text = $1`, t.id)
			w.active(box)
		})
		w.healthy("a session beside it", t, box)
	}
}

// TestKortix are worlds of Kortix at Daytona, mapped naively.
func TestKortix(t *testing.T) {
	p := naive(t, "kortix", kortixTasks, kortixDaytona, daytona)
	p.play(t, kortixHealthy())
	p.play(t, kortixBroken())
	p.play(t, kortixHealthy().together())
}

// TestKortixAtE2B is where parked boxes are paused.
func TestKortixAtE2B(t *testing.T) {
	naive(t, "kortix", kortixTasks, kortixE2B, e2b).play(t, stories{
		"parked sessions keep their paused boxes": func(w *world) { parked(w, "suspended") },
	})
}

// TestKortixPreset: with the words for what rests and sleeps nothing that rests is ended, what should rest and runs is
// told, and no row is written.
func TestKortixPreset(t *testing.T) {
	p := naive(t, "kortix", "tasks: {preset: kortix}\nrules: {awake: {after: 1m}}\n", kortixDaytona, daytona)
	p.play(t, stories{
		"a parked session's box runs for hours": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(9*time.Hour, 8*time.Hour))
			w.healthy("a parked session whose box runs", kortixSession(w, "stopped", box, row{"created_at": 30 * time.Hour,
				"updated_at": 8 * time.Hour, "active_since": 20 * time.Hour, "deadline_at": 8 * time.Hour, "last_used_at": 8 * time.Hour}), box)
			w.told("awake", box)
		},
		"a box should have slept for hours": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(9*time.Hour, 8*time.Hour))
			w.healthy("a session that should sleep", kortixSession(w, "active", box, row{"deadline_at": 7 * time.Hour,
				"last_used_at": 8 * time.Hour}), box)
			w.told("awake", box)
		},
		"an active session's box is gone": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(5*time.Hour, time.Second))
			t := kortixSession(w, "active", box, nil)
			w.healthy("a session whose row is only read", t)
			w.then(2, func() { w.vanish(box) })
			w.told("sandbox-missing", t.id)
		},
	})
}

func kortixHealthy() stories {
	return stories{
		"parked sessions keep their stopped boxes for weeks": func(w *world) { parked(w, "stopped") },
		"a tool call works for half an hour without traffic": turning,
		"a deadline has passed and its box is not asleep yet": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(20*time.Hour, 10*time.Minute))
			w.healthy("a session past its deadline", kortixSession(w, "active", box, row{"deadline_at": 2 * time.Minute,
				"last_used_at": 12 * time.Minute}), box)
		},
		"a box is provisioned for 20 minutes": func(w *world) {
			kortixCompany(w)
			s := age(20*time.Minute, 20*time.Minute)
			s.State = "creating"
			w.healthy("a session that is provisioned", kortixSession(w, "provisioning", "", row{
				"created_at": 20 * time.Minute, "updated_at": 20 * time.Minute, "active_since": 20 * time.Minute,
				"deadline_at": 20 * time.Minute, "last_used_at": nil}), kortixBox(w, s))
		},
		"monitors, environments and runtimes have rows elsewhere": elsewhere,
		"another environment and a laptop share the organization": shared,
		"a box is there for minutes before its row is written":    unwritten,
	}
}

func parked(w *world, state string) {
	kortixCompany(w)
	for _, status := range []string{"stopped", "archived"} {
		box := kortixBox(w, age(600*time.Hour, 480*time.Hour))
		w.cloud.Change(box, func(s *simulated.Sandbox) {
			if s.State = "stopped"; state == "suspended" {
				s.State = "suspended"
			}
		})
		w.healthy("a session that is "+status, kortixSession(w, status, box, row{"created_at": 600 * time.Hour,
			"updated_at": 480 * time.Hour, "active_since": 481 * time.Hour, "deadline_at": 480 * time.Hour,
			"last_used_at": 480 * time.Hour}), box)
	}
}

func turning(w *world) {
	kortixCompany(w)
	box := kortixBox(w, age(20*time.Hour, 30*time.Minute))
	t := kortixSession(w, "active", box, row{"last_used_at": 30 * time.Minute, "updated_at": 30 * time.Minute,
		"metadata": `{"activeTurns": 1}`, "deadline_at": -5 * time.Minute})
	w.insert("kortix.session_turns", row{"turn_token": newID(), "session_id": "s", "sandbox_id": t.id,
		"project_id": newID(), "account_id": newID(), "state": "active", "started_at": 31 * time.Minute})
	w.healthy("a session in a long tool call", t, box)
}

func elsewhere(w *world) {
	kortixCompany(w)
	monitor := kortixBox(w, age(700*time.Hour, time.Second))
	w.insert("kortix.project_monitor_boxes", row{"project_id": newID(), "account_id": newID(), "provider": "daytona",
		"external_id": monitor, "status": "running", "box_epoch": "1", "started_at": 700 * time.Hour})
	second := kortixBox(w, age(2*time.Hour, time.Second))
	w.insert("kortix.session_environments", row{"session_id": "s-" + newID(), "account_id": newID(), "project_id": newID(),
		"external_id": second, "status": "active"})
	runtime := kortixBox(w, age(90*time.Hour, time.Second))
	w.always(func() { w.active(monitor, second, runtime) })
	w.needed("a monitor", monitor)
	w.needed("a session's environment", second)
	w.needed("an app's runtime", runtime)
}

func shared(w *world) {
	kortixCompany(w)
	for _, own := range []map[string]string{
		{"kortix.managed": "true", "kortix.env": "dev"},
		{"kortix.managed": "true", "kortix.env": "dev", "kortix.instance": "annas-laptop"},
	} {
		s := age(50*time.Hour, time.Second)
		s.Labels = own
		id := w.cloud.Put(s).ID
		w.always(func() { w.active(id) })
		w.needed("another environment", id)
	}
}

func unwritten(w *world) {
	kortixCompany(w)
	box := kortixBox(w, age(6*time.Minute, time.Second))
	w.always(func() { w.active(box) })
	t := kortixSession(w, "provisioning", "", row{"created_at": 6 * time.Minute, "updated_at": 6 * time.Minute,
		"active_since": 6 * time.Minute, "last_used_at": nil, "deadline_at": 6 * time.Minute})
	w.then(3, func() {
		w.sql(`UPDATE kortix.session_sandboxes SET status = 'active', external_id = $2, updated_at = now() - interval '1 second',
			active_since = now() - interval '1 second', last_used_at = now() - interval '1 second',
			deadline_at = now() + interval '15 minutes' WHERE sandbox_id::text = $1`, t.id, box)
	})
	w.healthy("a session that comes up", t, box)
}

func kortixBroken() stories {
	return stories{
		"an active session's box is gone": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(5*time.Hour, time.Second))
			t := kortixSession(w, "active", box, nil)
			w.then(2, func() { w.vanish(box) })
			w.found("an active session without its box", t.id)
		},
		"a session is provisioned for two hours and has no box": func(w *world) {
			kortixCompany(w)
			w.found("a session that never came up", kortixSession(w, "provisioning", "", row{"created_at": 2 * time.Hour,
				"updated_at": 2 * time.Hour, "active_since": 2 * time.Hour, "deadline_at": 2 * time.Hour, "last_used_at": nil}).id)
		},
		"a box is in no table for three hours": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(3*time.Hour, 3*time.Hour))
			w.found("a box without a row", box)
		},
		"a failed session's box runs on for two days": func(w *world) {
			kortixCompany(w)
			box := kortixBox(w, age(50*time.Hour, 48*time.Hour))
			kortixSession(w, "error", box, row{"updated_at": 48 * time.Hour, "active_since": 50 * time.Hour,
				"last_used_at": 48 * time.Hour, "deadline_at": 48 * time.Hour})
			w.found("the box of a failed session", box)
		},
	}
}
