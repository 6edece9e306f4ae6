package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// The vendor takes the record of a sandbox away also when its node did not carry the kill out. That is answered with
// 500, and the sandbox is not found from then on, while its machine may run, and cost, for as long as the node takes
// to notice: it looks every 20 seconds, and only at what has run for a minute.
const (
	nodeNotices = 3 * time.Minute
	stillRuns   = time.Minute // a sample of its use that is newer is of a machine that runs
)

// noteKill keeps in mind that a kill was answered so that nobody knows what became of the machine.
func (p *Provider) noteKill(id string, a wire.Answer) {
	if a.Status >= http.StatusInternalServerError {
		p.unsure.Store(id, p.base.Now())
	}
}

// EndFailed keeps the same in mind of a kill that another process may have asked for, or an earlier run of this one.
// Of two the later one counts.
func (p *Provider) EndFailed(id string, ago time.Duration) {
	at := p.base.Now().Add(-max(ago, 0))
	known, _ := p.unsure.Load(id)
	if before, _ := known.(time.Time); before.Before(at) {
		p.unsure.Store(id, at)
	}
}

// certainlyGone is nil where a sandbox that is not found is gone. After a kill that failed its own event proves that
// the machine ended, and later that nobody measures it any more: the samples come from the node, and not from the
// record.
func (p *Provider) certainlyGone(ctx context.Context, id string) error {
	kept, _ := p.unsure.Load(id)
	at, failed := kept.(time.Time)
	if !failed {
		return nil
	}
	_, err := p.Death(ctx, id)
	left := nodeNotices - p.base.Now().Sub(at)
	switch {
	case err == nil:
	case left > 0:
		return fmt.Errorf("its kill failed, and it is not found since: whether its machine ended is known in %s",
			left.Round(time.Second))
	case p.measured(ctx, id):
		return errors.New("it is not found since its kill failed, and its machine is still measured: it runs")
	}
	p.unsure.Delete(id)
	return nil
}

// measured reports whether the node took a sample of the sandbox a moment ago. The newest one is told of what is long
// dead, too, so its time counts.
func (p *Provider) measured(ctx context.Context, id string) bool {
	var in struct {
		Sandboxes map[string]sample `json:"sandboxes"`
	}
	a, err := p.client.Get(ctx, wire.Call{What: "metrics",
		URL: p.client.At("sandboxes", "metrics") + "?" + url.Values{"sandbox_ids": {id}}.Encode()}, &in)
	last, told := in.Sandboxes[id]
	return err == nil && told && a.Date.Sub(time.Unix(last.At, 0)) < stillRuns
}
