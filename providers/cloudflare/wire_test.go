package cloudflare

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Every word of both halves, alone.
func TestStates(t *testing.T) {
	for word, want := range map[string]reconcile.SandboxState{
		"provisioning": reconcile.SandboxCreating, "running": reconcile.SandboxRunning,
		"unhealthy": reconcile.SandboxRunning, "stopping": reconcile.SandboxDeleting,
		"stopped": reconcile.SandboxEnded, "inactive": reconcile.SandboxSuspended,
		"failed": reconcile.SandboxFailed, "unknown": reconcile.SandboxUnknown, "": reconcile.SandboxUnknown,
		"RUNNING": reconcile.SandboxUnknown, "sleeping": reconcile.SandboxUnknown,
	} {
		i := instance{ID: "i"}
		i.Status.State = word
		if got := (&Provider{}).sandbox(pair{instance: &i}, time.Time{}); got.State != want || got.Raw != word {
			t.Errorf("a container that is %q = %q, raw %q; want %q", word, got.State, got.Raw, want)
		}
	}
	for word, want := range map[string]reconcile.SandboxState{
		"provisioning": reconcile.SandboxCreating, "running": reconcile.SandboxRunning,
		"failed": reconcile.SandboxFailed, "terminating": reconcile.SandboxDeleting,
		"terminated": reconcile.SandboxEnded, "": reconcile.SandboxUnknown, "stopped": reconcile.SandboxUnknown,
		"Running": reconcile.SandboxUnknown,
	} {
		if got := (&Provider{}).sandbox(pair{record: &record{ID: "r", Status: word}}, time.Time{}); got.State != want {
			t.Errorf("a record that is %q = %q; want %q", word, got.State, want)
		}
	}
}

// What a record that says running is, by what its own object and the control plane say of the
// container. Hollow needs somebody who knows, and nobody who contradicts: where the object is
// silent, what stopped may sleep, and what is not shown may be another application's.
func TestConfront(t *testing.T) {
	const (
		runs, sleeps, creating = reconcile.SandboxRunning, reconcile.SandboxSuspended, reconcile.SandboxCreating
		unknown                = reconcile.SandboxUnknown
		absent                 = "absent"
	)
	type seen struct {
		state  reconcile.SandboxState
		hollow bool
	}
	for shown, byObject := range map[string]map[string]seen{
		"running":      {"": {runs, false}, "running": {runs, false}, "stopped": {runs, false}, "missing": {runs, false}},
		"unhealthy":    {"": {runs, false}, "missing": {runs, false}},
		"provisioning": {"": {creating, false}, "missing": {creating, false}},
		"stopping":     {"": {sleeps, false}, "running": {sleeps, false}},
		"inactive":     {"": {sleeps, false}, "missing": {sleeps, false}},
		"unknown":      {"": {unknown, false}, "missing": {unknown, false}},
		"dreaming":     {"": {unknown, false}},
		"stopped": {"": {sleeps, false}, "unknown": {sleeps, false}, "running": {runs, false}, "stopped": {sleeps, false},
			"missing": {runs, true}},
		"failed": {"": {runs, true}, "running": {runs, false}, "unknown": {runs, false}, "stopped": {sleeps, false},
			"missing": {runs, true}},
		absent: {"": {runs, false}, "unknown": {runs, false}, "running": {runs, false}, "stopped": {sleeps, false},
			"missing": {runs, true}},
	} {
		for said, want := range byObject {
			of := pair{record: &record{ID: "r", Status: "running", Container: said}}
			if shown != absent {
				of.instance = &instance{ID: "i"}
				of.instance.Status.State = shown
			}
			got := (&Provider{}).sandbox(of, time.Time{})
			if (seen{got.State, got.NoContainer}) != want || got.NoContainer != (got.Error != "") {
				t.Errorf("control plane %q, object %q: %q, hollow %t (%s); want %v", shown, said, got.State, got.NoContainer, got.Error, want)
			}
		}
	}
	for _, status := range []string{"provisioning", "failed", "terminating", "odd"} {
		of := pair{record: &record{ID: "r", Status: status, Container: "missing"}}
		if got := (&Provider{}).sandbox(of, time.Time{}); got.NoContainer || got.State != ofRecord[status] {
			t.Errorf("a record that is %s = %+v, want it as the record says: only running can be hollow", status, got)
		}
	}
}

func TestFieldsOfAPair(t *testing.T) {
	stamp := func(hour int) time.Time { return time.Date(2026, 11, 1, hour, 0, 0, 0, time.UTC) }
	r := &record{ID: "task-1", Status: "running", Task: "t1", AgentType: "coder", Labels: map[string]string{"task_id": "old"}}
	r.CreatedAt.Time, r.LastActivityAt.Time = stamp(1), stamp(3)
	i := &instance{ID: "object", Name: "other", Image: "image:2"}
	i.Status.State, i.StartedAt.Time, i.Location.Name = "running", stamp(2), "ams01"
	p := &Provider{entry: entry.Entry{Name: "lab", Owns: entry.Owns{NamePrefix: "task-"},
		Link: entry.Link{TaskLabel: "task_id", Sandbox: "name"}}}
	got := p.sandbox(pair{record: r, instance: i}, stamp(4))
	if got.ID != "task-1" || got.Name != "task-1" || got.Task != "t1" || got.Labels["agent_type"] != "coder" ||
		got.Template != "image:2" || got.Region != "ams01" || !got.CreatedAt.Equal(stamp(1)) ||
		!got.LastActivityAt.Equal(stamp(3)) || !got.Owned || got.SandboxKey != "task-1" || got.Provider != "lab" {
		t.Errorf("a pair = %+v", got)
	}
	if r.Labels["task_id"] != "old" {
		t.Error("the record's own labels were changed")
	}
	i.StartedAt.Time, i.Status.UpdatedAt.Time = time.Time{}, stamp(5)
	if got := p.sandbox(pair{instance: i}, stamp(6)); !got.CreatedAt.Equal(stamp(5)) || got.ID != "object" || got.Owned {
		t.Errorf("a container that did not start yet = %+v, want it created when it was first seen, and not ours", got)
	}
}
