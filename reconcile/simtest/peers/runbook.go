package peers

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The constants of the sandbox runbook of MonoTask.
const (
	runbookEvery = 5 * time.Minute
	runbookAge   = 10 * time.Minute // "stuck if over 10 minutes", running or provisioning
)

// Runbook ends what is older than 10 minutes, whatever happens inside. It knows no tasks.
func Runbook() Policy {
	return Policy{Name: "age-only runbook", Sweeps: []Sweep{
		{Name: "old sandboxes", Every: runbookEvery, Needs: Needs{List: true}, Decide: runbookOld},
	}}
}

func runbookOld(v *View) []Deed {
	var out []Deed
	for _, b := range v.Boxes {
		running := b.State == reconcile.SandboxRunning || b.State == reconcile.SandboxCreating
		if age := b.AsOf.Sub(b.CreatedAt); running && !b.CreatedAt.IsZero() && age > runbookAge {
			out = append(out, Deed{Verb: End, Ref: b.Ref, Reason: fmt.Sprintf("older than %s", runbookAge)})
		}
	}
	return out
}
