package main

import (
	"strings"
	"testing"
	"time"
)

// TestCheckLinks: check holds the links and `exclusive` against what is really there.
func TestCheckLinks(t *testing.T) {
	a := newArena(t, settings{tasks: ", explained_by: []"})
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "FAIL  ledger: schema: version 0") ||
		strings.Contains(out, "exclusive") {
		t.Errorf("before the ledger is made: %s", out)
	}
	a.must("migrate")
	if out := a.must("check"); !strings.Contains(out, "links: no owned sandbox is there") ||
		!strings.Contains(out, "exclusive: nothing proves it yet") {
		t.Errorf("of nothing: %s", out)
	}
	ws := a.working(12)
	a.once(0)
	if out := a.must("check"); !strings.Contains(out, "links: rows explain 12 of 12 owned sandboxes; of 12 with the label "+
		"task_id 12 name a row") || !strings.Contains(out, "exclusive: proven: all 12 sandboxes") {
		t.Errorf("of workers: %s", out)
	}
	box := a.box("", time.Minute)
	a.later(20*time.Second, ws...)
	a.once(0)
	out := a.must("check")
	if !strings.Contains(out, "links: rows explain 12 of 13") || !strings.Contains(out, "nothing explains "+box.ID+" (no link)") ||
		!strings.Contains(out, "warn  provider daytona: exclusive: 1 of 13 sandboxes") {
		t.Errorf("with one that nothing explains: %s", out)
	}
	a.box("00000000-0000-4000-8000-00000000000a", time.Minute)
	a.later(20*time.Second, ws...)
	a.once(0)
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "FAIL  provider daytona: exclusive: 2 of 14") ||
		!strings.Contains(out, "exclusive: false") {
		t.Errorf("with two, enforced: %s", out)
	}
	a.sql("DELETE FROM tasks")
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "FAIL  provider daytona: links: rows explain 0 of 14") ||
		!strings.Contains(out, "Is it another column") {
		t.Errorf("without a row: %s", out)
	}
}
