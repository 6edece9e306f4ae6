package app

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHeldThen: the confirmation of a hold names each sandbox and each live task that it would hold, and no other.
func TestHeldThen(t *testing.T) {
	for target, want := range map[string]string{
		"sandbox:alone":         "sandbox:daytona/alone",
		"sandbox:daytona/alone": "sandbox:daytona/alone",
		"sandbox:name-alone":    "sandbox:daytona/alone",
		"sandbox:used":          "sandbox:daytona/used task:t-run", // with the task that works in it
		"task:t-run":            "sandbox:daytona/used task:t-run",
		"task:t-done":           "sandbox:daytona/over", // the row is over, its sandbox is not
		"provider:daytona":      "sandbox:daytona/alone sandbox:daytona/over sandbox:daytona/used task:t-run",
		"provider:e2b":          "",
		"sandbox:gone":          "",
		"task:t-other":          "",
	} {
		m := remembered()
		gone := reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: "gone"}, GoneAt: m.Now}
		m.Sandboxes.Put(gone.Ref, gone)
		e := &ending{m: m}
		e.index()
		if got := strings.Join(e.heldBy([]string{target}), " "); got != want {
			t.Errorf("a hold of %s is about %q, want %q", target, got, want)
		}
	}
}
