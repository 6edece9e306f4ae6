package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// FuzzTargets: what a person may hold is something that the ledger takes, holds, shows as it
// was given, and lifts again by the same words; anything else is refused.
func FuzzTargets(f *testing.F) {
	for _, text := range []string{"task:8c02", "sandbox:daytona/sb-1", "label:team=research", "label:team", "label:=x", "label:a=b=c", "provider:daytona",
		"8c02", "", ":", "task:", "tasks:1", "task:a:b", "a/b", "task: x ", "task:\x00", "TASK:1", "label:", "urn:uuid:1", "sandbox:task:1", "\u202etask:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		wanted, err := app.Targets(arg)
		if err != nil {
			if len(wanted) > 0 {
				t.Fatalf("targets(%q) = %q and %v", arg, wanted, err)
			}
			return
		}
		ledger := memory.New(time.Now)
		for _, target := range wanted {
			if !strings.HasSuffix(target, arg) {
				t.Fatalf("targets(%q) = %q, which is something else", arg, wanted)
			}
			if _, err := ledger.Hold(t.Context(), reconcile.Hold{Target: target, Author: "ana", Reason: "x"}); err != nil {
				if kind, rest, _ := strings.Cut(target, ":"); rest != "" && kind != "label" {
					t.Fatalf("hold %q: %v", target, err)
				}
				continue
			}
			controls, err := ledger.Controls(t.Context())
			if err != nil || len(controls.Holds) != 1 || controls.Holds[0].Target != target {
				t.Fatalf("held %q is shown as %+v, %v", target, controls.Holds, err)
			}
			if n, err := ledger.Unhold(t.Context(), target, reconcile.Attribution{Author: "ana", Reason: "x"}); n != 1 || err != nil {
				t.Fatalf("lifting %q = %d, %v", target, n, err)
			}
		}
	})
}
