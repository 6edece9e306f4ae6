package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A sample is what a sandbox used at one moment.
type sample struct {
	At                                     int64   `json:"timestampUnix"`
	CPU                                    float64 `json:"cpuUsedPct"`
	MemUsed, MemTotal, DiskUsed, DiskTotal int64
}

// Usage is what the sandbox used a moment ago, as the control plane measured it: nobody calls
// into the sandbox for it.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	var in []sample
	_, err := p.client.Ask(ctx, wire.Call{What: "usage", URL: p.client.At("sandboxes", s.ID, "metrics")}, &in)
	if err == nil && len(in) == 0 {
		err = errors.New("it was not measured yet")
	}
	if err != nil {
		return reconcile.Resources{}, p.base.Wrap("measure sandbox", s.ID, err)
	}
	now := slices.MaxFunc(in, func(a, b sample) int { return cmp.Compare(a.At, b.At) })
	return reconcile.Resources{CPUPercent: now.CPU, MemoryUsed: now.MemUsed, MemoryTotal: now.MemTotal,
		DiskUsed: now.DiskUsed, DiskTotal: now.DiskTotal}, nil
}

// A line is one of a sandbox's log, or one event of its life.
type line struct {
	At      wire.Stamp `json:"timestamp"`
	Message string     `json:"message"`
	Event   string     `json:"type"`
}

// Logs is the end of what the sandbox printed, at most limit bytes, with the events of its
// life among it: they tell when it was paused, resumed and killed.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	var in struct {
		Logs []line `json:"logs"`
	}
	_, err := p.client.Ask(ctx, wire.Call{What: "logs", Max: wire.MaxPage,
		URL: p.client.At("v2", "sandboxes", s.ID, "logs") + "?direction=backward&limit=1000"}, &in)
	if err != nil {
		return "", p.base.Wrap("read logs of sandbox", s.ID, err)
	}
	lines := append(in.Logs, p.events(ctx, s.ID)...)
	slices.Reverse(lines) // both come newest first
	slices.SortStableFunc(lines, func(a, b line) int { return a.At.Compare(b.At.Time) })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(strings.TrimRight(l.Message, "\n") + "\n")
	}
	return p.client.Tail(text.String(), limit), nil
}

// events are none where they cannot be read. Only the vendor itself is asked: what a server
// that does not know them answers may look like anything.
func (p *Provider) events(ctx context.Context, id string) (in []line) {
	if !slices.Contains(vendors, p.domain) {
		return nil
	}
	_, err := p.client.Ask(ctx, wire.Call{What: "events", URL: p.client.At("events", "sandboxes", id) + "?limit=100"}, &in)
	if err != nil {
		return nil
	}
	for i, e := range in {
		in[i].Message = fmt.Sprintf("[%s %s]", e.At.Format(time.RFC3339), text.Clip(e.Event, 60))
	}
	return in
}

var fixes = wire.Fixes{
	Refused: "create an API key in the team's settings and set token: to it",
	URL:     "set url: to the address of the API, for example https://api." + DefaultDomain,
}

// Check tests the key, its team, the listing, and the way into the sandboxes.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	read := p.pages(p.entry.Owns.Labels)
	page, err := read(ctx, "")
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	team := wire.Well("team", "team: is not given, so whose key it is is not tested")
	if given := p.entry.Extra["team"]; given != "" {
		team.Said = "the key is of team " + given
	}
	if err := p.team(ctx); err != nil {
		team = wire.Ill("team", err.Error(), "set token: to a key of the team in team:")
	}
	return []reconcile.CheckResult{wire.Well("credential", "the key is accepted"), team,
		p.base.CheckListing(ctx, read, fixes), p.checkInside(ctx, page.Sandboxes)}
}

// checkInside asks the daemon of one sandbox that is ours and runs whether it is well.
func (p *Provider) checkInside(ctx context.Context, seen []reconcile.Sandbox) reconcile.CheckResult {
	const what = "way into the sandboxes"
	if _, err := p.where(box{ID: "i0"}); err != nil {
		return wire.Ill(what, err.Error(), "set domain: or sandbox_url:")
	}
	at := slices.IndexFunc(seen, func(s reconcile.Sandbox) bool { return s.Owned && s.State == reconcile.SandboxRunning })
	if at < 0 {
		return wire.Well(what, "not tested: no sandbox of ours runs")
	}
	b, a, err := p.get(ctx, seen[at].ID)
	if no := barred(b, a, err, 6*lull); no.Outcome != "" {
		return wire.Well(what, "not tested: "+no.Words)
	}
	a, err = p.ask(ctx, b, wire.Call{What: "health", Method: http.MethodGet, URL: "/health"})
	if err == nil && a.Status != http.StatusNoContent {
		err = p.client.Refuse(a)
	}
	if err != nil {
		return wire.Ill(what, "sandbox "+b.ID+": "+err.Error(),
			"see that domain: and sandbox_url: lead to the sandboxes, and that this one is well")
	}
	return wire.Well(what, "the daemon of sandbox "+b.ID+" is well")
}
