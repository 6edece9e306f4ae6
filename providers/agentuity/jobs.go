package agentuity

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// forever is how long a job may run in a sandbox that names no time-out of executions.
const forever = 24 * time.Hour

// beside looks for a job that says running for longer than it may, which is the second thing
// that fails in a sandbox whose commands do.
func (p *Provider) beside(ctx context.Context, s reconcile.Sandbox, b box, exec sign) sign {
	in, a, err := fetch[struct {
		Jobs []struct {
			ID        string     `json:"jobId"`
			Status    string     `json:"status"`
			StartedAt wire.Stamp `json:"startedAt"`
		} `json:"jobs"`
	}](ctx, p, about(s, "jobs"))
	if err != nil {
		return exec
	}
	most := forever
	if d, err := time.ParseDuration(b.Timeout.Execution); err == nil && d > 0 {
		most = 2 * d
	}
	for _, j := range in.Jobs {
		if ran := a.Date.Sub(j.StartedAt.Time); j.Status == "running" && !j.StartedAt.IsZero() && ran > most {
			exec.once = false
			exec.Said += fmt.Sprintf("; job %s says running for %s", wire.Clip(j.ID, 40), ran.Round(time.Minute))
			break
		}
	}
	return exec
}
