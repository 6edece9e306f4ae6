package main

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var before = flag.String("before", "", "program of the version before this one; tools/upgrade.sh builds it")

// TestUpgrade: a daemon of the version before keeps a platform, this one migrates the ledger under it and takes over,
// and everything is done once. The older one does nothing on a schema that it does not know, and says so: before the
// new one has come, when both run, and when somebody goes back.
func TestUpgrade(t *testing.T) {
	if *before == "" {
		t.Skip("it needs the version before this one: make test-upgrade")
	}
	a := newArena(t, settings{rules: "{orphan: {apart: 1s}}", more: quickly})
	ws := a.working(4)
	a.program = *before
	first := a.box(nobody, 10*time.Minute)
	older := a.daemon("run", "--migrate")
	a.reaches("the older one confirmed an end", func() bool { return a.confirmed(first.ID) })

	second := a.box(strings.Replace(nobody, "0000", "2222", 1), 10*time.Minute)
	a.must("migrate")
	const says = "a newer sandkeeper has migrated it"
	a.reaches("the older one says why it does nothing", func() bool { return strings.Contains(older.errs.String(), says) })
	done := a.deletes()

	a.program = ""
	newer := a.daemon("run")
	a.reaches("the newer one confirmed an end", func() bool { return a.confirmed(second.ID) })
	third := a.box(strings.Replace(nobody, "0000", "3333", 1), 10*time.Minute)
	a.reaches("it did so beside the older one", func() bool { return a.confirmed(third.ID) })
	newer.stop()
	older.stop()

	a.program = *before
	back := a.prepare("once")
	back.start(t)
	<-back.done
	if code := back.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(back.errs.String(), says) {
		t.Errorf("back at the older one: exit code %d, %s", code, back.errs.String())
	}
	for name, id := range map[string]string{"older": first.ID, "newer": second.ID, "both": third.ID} {
		if n := a.deletes()[id]; n != 1 {
			t.Errorf("what the %s had to end was deleted %d times (%v at the migration)", name, n, done)
		}
	}
	a.keeps(ws)
}

// confirmed reports whether the end of a sandbox is on record.
func (a *arena) confirmed(id string) bool {
	return a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1 AND outcome = 'confirmed'", id) == 1
}
