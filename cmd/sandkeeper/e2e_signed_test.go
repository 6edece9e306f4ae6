package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestSignedLinksConvict: with link.key_file a stranger's sandbox that carries a task's label, failed or broken as it
// may be, neither harms the task nor shields its leak; what is signed is found and repaired as ever.
func TestSignedLinksConvict(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	file := filepath.Join(t.TempDir(), "link.key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newArena(t, settings{link: fmt.Sprintf("task_id, key_file: %q", file)})
	link := providers.Link{Key: key}
	ws := a.working(3)
	for _, w := range ws {
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) { s.Labels["task_id"] = link.Value(w.task) })
	}
	stopped := a.task(row{status: "cancelled", key: "omoios-stopped", created: time.Hour, updated: 10 * time.Minute,
		started: time.Hour})
	leak := a.box(stopped, time.Hour)
	a.cloud.Change(leak.ID, func(s *simulated.Sandbox) { s.Labels["task_id"] = link.Value(stopped) })
	forged := a.box(ws[0].task, time.Hour) // the label without a signature
	a.cloud.Change(forged.ID, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
	for range 4 {
		_, out, errs := a.run("once", "--migrate", "-o", "json", "--wait", patience)
		if strings.Contains(out, forged.ID) && !strings.Contains(out, "is not signed by link.key_file") {
			t.Errorf("nobody is told why the sandbox with the forged label is left\n%s\n%s", out, errs)
		}
		a.later(70*time.Second, ws...)
	}
	a.keeps(ws)
	if a.ended(forged.ID) {
		t.Error("a sandbox that may be somebody else's was ended")
	}
	if !a.ended(leak.ID) {
		t.Error("the sandbox of a stopped task, signed, is still there")
	}
}
