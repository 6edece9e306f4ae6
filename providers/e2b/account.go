package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Usage is what the sandbox used a moment ago, as the control plane measured it: nobody calls
// into the sandbox for it.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	var in []struct {
		At                                     int64   `json:"timestampUnix"`
		CPU                                    float64 `json:"cpuUsedPct"`
		MemUsed, MemTotal, DiskUsed, DiskTotal int64
	}
	err := p.once(ctx, wire.Call{What: "usage", URL: p.client.At("sandboxes", s.ID, "metrics")}, &in)
	if err == nil && len(in) == 0 {
		err = errors.New("it was not measured yet")
	}
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("measure sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	now := in[0]
	for _, sample := range in {
		if sample.At >= now.At {
			now = sample
		}
	}
	return reconcile.Resources{CPUPercent: now.CPU, MemoryUsed: now.MemUsed, MemoryTotal: now.MemTotal,
		DiskUsed: now.DiskUsed, DiskTotal: now.DiskTotal}, nil
}

// once reads without repeats what somebody else waits for.
func (p *Provider) once(ctx context.Context, k wire.Call, v any) error {
	k.Method = http.MethodGet
	a, err := p.client.Once(ctx, k)
	if err != nil {
		return err
	}
	return p.client.Decode(a, v)
}

// A line is one of a sandbox's log, or one event of its life.
type line struct {
	At      time.Time
	Message string
}

// Logs is the end of what the sandbox printed, at most limit bytes, with the events of its
// life among it: they tell when it was paused, resumed and killed.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	var in struct {
		Logs []struct {
			At      wire.Stamp `json:"timestamp"`
			Message string     `json:"message"`
		} `json:"logs"`
	}
	k := wire.Call{What: "logs", URL: p.client.At("v2", "sandboxes", s.ID, "logs") + "?direction=backward&limit=1000",
		Max: wire.MaxPage}
	if err := p.once(ctx, k, &in); err != nil {
		return "", fmt.Errorf("read logs of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	lines := make([]line, len(in.Logs))
	for i, l := range in.Logs {
		lines[len(in.Logs)-1-i] = line{l.At.Time, strings.TrimRight(l.Message, "\n")}
	}
	lines = append(lines, p.events(ctx, s.ID)...)
	slices.SortStableFunc(lines, func(a, b line) int { return a.At.Compare(b.At) })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.Message + "\n")
	}
	return p.client.Tail(text.String(), limit), nil
}

// events are none where they cannot be read. Only the vendor itself is asked: what a server
// that does not know them answers may look like anything.
func (p *Provider) events(ctx context.Context, id string) []line {
	var in []struct {
		Type string     `json:"type"`
		At   wire.Stamp `json:"timestamp"`
	}
	k := wire.Call{What: "events", URL: p.client.At("events", "sandboxes", id) + "?limit=100"}
	if !p.own() || p.once(ctx, k, &in) != nil {
		return nil
	}
	out := make([]line, len(in))
	for i, e := range in {
		at := e.At.Time
		out[len(in)-1-i] = line{at, fmt.Sprintf("[%s %s]", at.Format(time.RFC3339), wire.Clip(e.Type, 60))}
	}
	return out
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
	return append([]reconcile.CheckResult{{What: "credential", OK: true, Said: "the key is accepted"}},
		p.checkTeam(ctx), p.frame.CheckListing(ctx, read, fixes), p.checkInside(ctx, page.Sandboxes))
}

func (p *Provider) checkTeam(ctx context.Context) reconcile.CheckResult {
	team := p.entry.Extra["team"]
	if team == "" {
		return reconcile.CheckResult{What: "team", OK: true, Said: "team: is not given, so whose key it is is not tested"}
	}
	if err := p.team(ctx); err != nil {
		return reconcile.CheckResult{What: "team", Said: wire.Clip(err.Error(), 300),
			Fix: "set token: to a key of the team in team:"}
	}
	return reconcile.CheckResult{What: "team", OK: true, Said: "the key is of team " + team}
}

// checkInside asks the daemon of one sandbox that is ours and runs whether it is well.
func (p *Provider) checkInside(ctx context.Context, seen []reconcile.Sandbox) reconcile.CheckResult {
	const what = "way into the sandboxes"
	at := slices.IndexFunc(seen, func(s reconcile.Sandbox) bool { return s.Owned && s.State == reconcile.SandboxRunning })
	if at < 0 {
		_, err := p.where(box{ID: "i0"})
		if err != nil {
			return reconcile.CheckResult{What: what, Said: err.Error(), Fix: "set domain: or sandbox_url:"}
		}
		return reconcile.CheckResult{What: what, OK: true, Said: "not tested: none of ours runs"}
	}
	b, a, err := p.get(ctx, seen[at].ID)
	if h, stays := runs(b, err); !stays || b.mayWake(a.Date, 6*lull) {
		return reconcile.CheckResult{What: what, OK: true, Said: strings.TrimSpace("not tested: it ends " + h.Said)}
	}
	a, err = p.ask(ctx, b, wire.Call{What: "health", Method: http.MethodGet, URL: "/health"})
	if err == nil && a.Status != http.StatusNoContent {
		err = p.client.Refuse(a)
	}
	if err != nil {
		return reconcile.CheckResult{What: what, Said: wire.Clip("sandbox "+b.ID+": "+err.Error(), 300),
			Fix: "see that domain: and sandbox_url: lead to the sandboxes, and that this one is well"}
	}
	return reconcile.CheckResult{What: what, OK: true, Said: "the daemon of sandbox " + b.ID + " is well"}
}
