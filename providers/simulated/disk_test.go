package simulated_test

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestDisk(t *testing.T) {
	w := simulated.New(simulated.Options{})
	old := w.Put(simulated.Sandbox{Disk: map[string]string{"/tmp/old": "1"}})
	if trouble := w.Write(old.ID, "tmp/new", "2"); trouble != simulated.Healthy {
		t.Fatalf("Write met %q", trouble)
	}
	if text, trouble := w.Read(old.ID, "/tmp/new"); text != "2" || trouble != simulated.Healthy {
		t.Errorf("Read of what was written = %q, %q; want 2 and no trouble", text, trouble)
	}
	if files, _ := w.Folder(old.ID, "/tmp"); len(files) != 2 {
		t.Errorf("the folder holds %v, want the old and the new file", files)
	}
	if len(old.Disk) != 1 {
		t.Errorf("the write reached a copy that was handed out before: %v", old.Disk)
	}
	for what, c := range map[string]struct {
		box  simulated.Sandbox
		want simulated.Trouble
	}{
		"of a file that is not there":    {simulated.Sandbox{}, simulated.NoPath},
		"while files are in trouble":     {simulated.Sandbox{Files: simulated.Dead}, simulated.Dead},
		"in a sandbox that does not run": {simulated.Sandbox{State: reconcile.SandboxStopped}, simulated.NotRunning},
	} {
		box := w.Put(c.box)
		if _, trouble := w.Read(box.ID, "/tmp/x"); trouble != c.want {
			t.Errorf("a read %s met %q, want %q", what, trouble, c.want)
		}
		if trouble := w.Write(box.ID, "/tmp/x", ""); c.want != simulated.NoPath && trouble != c.want {
			t.Errorf("a write %s met %q, want %q", what, trouble, c.want)
		}
	}
}
