package docker

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// ours begins the names of the scripts of probes, by which an engine shows them.
const ours = "sandkeeper-"

// abreast is how much later than it may a probe's command may end and still be under way, by the
// clock of another process.
const abreast = 10 * time.Second

// out reports whether a command of this process never came back from the container.
func (p *Provider) out(id string) bool {
	_, exec := p.hung.Load(id + "exec")
	_, files := p.hung.Load(id + "files")
	return exec || files
}

// left is the verdict where a command of another process's probe is still out. That process may
// be over since, as one that runs once.
func (p *Provider) left(ctx context.Context, id string, within time.Duration) wire.ProbePart {
	patience, cancel := context.WithTimeout(ctx, aside)
	defer cancel()
	c, _, err := p.inspect(patience, id)
	if err != nil {
		return wire.ProbePart{}
	}
	for _, exec := range c.ExecIDs[:min(len(c.ExecIDs), wire.MostLeft)] {
		began, out := p.ours(patience, exec)
		switch {
		case !out:
		case p.client.Now().Sub(began) > within+wire.Margin+abreast:
			return hung("the command of an earlier probe, begun at " + text.Time(began) + ", has not come back")
		default:
			return wire.Unclear("another process probes it")
		}
	}
	return wire.ProbePart{}
}

// ours reports whether an execution is a probe's that runs, and since when.
func (p *Provider) ours(ctx context.Context, exec string) (began time.Time, out bool) {
	client, err := p.ready(ctx)
	if err != nil || checkID(exec) != nil {
		return began, false
	}
	var in container.ExecInspectResponse
	_, err = p.client.Get(ctx, wire.Call{What: "exec",
		URL: p.client.At("v"+client.ClientVersion(), "exec", exec, "json")}, &in)
	if err != nil || !in.Running || in.ProcessConfig == nil {
		return began, false
	}
	args := in.ProcessConfig.Arguments
	if len(args) < 4 || !strings.HasPrefix(args[2], ours) {
		return began, false
	}
	seconds, err := strconv.ParseInt(args[len(args)-1], 10, 64)
	return time.Unix(seconds, 0), err == nil
}
