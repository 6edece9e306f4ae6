package run

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestRecheckOfWhatIsOnRecord: a sandbox that the second look finds over, on record without the label that made it the
// task's, is told of as it was found and not as gone; one that goes on under another's label is not the task's.
func TestRecheckOfWhatIsOnRecord(t *testing.T) {
	ref := reconcile.Ref{Provider: "daytona", ID: "s1"}
	for name, c := range map[string]struct {
		state reconcile.SandboxState
		task  string
		want  string
	}{
		"over, without a label":         {reconcile.SandboxEnded, "", "exited"},
		"over, with another's label":    {reconcile.SandboxEnded, "t2", "exited"},
		"it runs, with another's label": {reconcile.SandboxRunning, "t2", ""},
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, "task t1 running started=1h; knew box daytona/s1 running task=t1 first=1h")
		w.S.Lookups[ref] = reconcile.Lookup{Sandbox: reconcile.Sandbox{Ref: ref, State: c.state, Task: c.task, Raw: "exited"}}
		o := &recheck{Recheck: decide.Recheck{View: view.New(&w.S, &w.P)}}
		got := ""
		for _, b := range o.boxes([]reconcile.Ref{ref}, "t1") {
			if got += b.Raw; b.Gone || !b.Lost() || b.Task != "t1" {
				t.Errorf("%s: the task's sandbox is %+v, want one that is here and over", name, b.Sandbox)
			}
		}
		if got != c.want {
			t.Errorf("%s: the task's sandbox is %q, want %q", name, got, c.want)
		}
	}
}
