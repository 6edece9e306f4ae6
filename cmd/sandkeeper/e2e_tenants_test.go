package main

import (
	"fmt"
	"testing"
	"time"
)

// TestOneTenantFreezesOnlyItself: nine rows of one tenant that show life and have no sandbox make the link doubtful.
// Without `tenant` that holds everybody's leak; with it the leak of another one is ended.
func TestOneTenantFreezesOnlyItself(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tasks    string
		distrust string
		ends     bool
	}{
		"told apart": {`, columns: {tenant: "(split_part(sandbox_id, '-', 2))"}`, "link@evil", true},
		"alike":      {"", "link", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{tasks: tt.tasks, rules: "{orphan: {after: 30s, apart: 1s}}"})
			ws := a.working(3)
			lost := a.task(row{status: "running", key: "omoios-other-1", created: 6 * time.Minute, updated: 5 * time.Minute,
				started: 5 * time.Minute})
			a.event("omoios-other-1", "agent.started", 5*time.Minute)
			a.event("omoios-other-1", "agent.heartbeat", 2*time.Second)
			leak := a.box(lost, 5*time.Minute)
			a.once(0)
			a.sql(fmt.Sprintf("DELETE FROM tasks WHERE id::text = '%s'", lost))
			evil := []worker{}
			for i := range 9 {
				w := worker{key: fmt.Sprintf("omoios-evil-%d", i)}
				w.task = a.task(row{status: "running", key: w.key, created: time.Hour, updated: time.Hour, started: time.Hour})
				a.event(w.key, "agent.started", time.Hour)
				a.event(w.key, "agent.heartbeat", 2*time.Second)
				evil = append(evil, w)
			}
			for range 4 {
				a.later(40*time.Second, append(evil, ws...)...)
				_, out, errs := a.run("once", "-o", "json", "--wait", patience)
				if r := a.report(out); !distrusts(r, tt.distrust) {
					t.Fatalf("%s is trusted: %+v\n%s", tt.distrust, r.Sources, errs)
				}
			}
			if a.ended(leak.ID) != tt.ends {
				t.Errorf("another tenant's leak is ended: %t, want %t", a.ended(leak.ID), tt.ends)
			}
			a.keeps(ws)
		})
	}
}
