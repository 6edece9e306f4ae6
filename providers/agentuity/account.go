package agentuity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// totals is the call that names the organization in a header too.
const totals = "totals"

var fixes = wire.Fixes{
	Refused: "create an SDK key of the project, or a CLI key of a member of the organization, and set token: to it",
	URL:     "leave url: and catalyst: out, for the vendor's cloud, or correct them",
}

// Check tests the key, and the listing of every region, and compares what they show with the
// organization's totals.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	places, err := p.named(ctx)
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", fmt.Errorf("regions: %w", err))}
	}
	reader := &reader{Provider: p, region: places[0], met: map[string]bool{}}
	rows, a, err := reader.rows(ctx, 0)
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	out := []reconcile.CheckResult{{What: "credential", OK: true, Said: "accepted"}, p.said(places)}
	for _, r := range places {
		line := p.frame.CheckListing(ctx, p.pages(r), fixes)
		line.What = strings.TrimSpace("listing " + r)
		out = append(out, line)
	}
	out = append(out, wire.LimitsLeft(a.Header, "X-RateLimit-Remaining"), p.checkProbes(rows.Sandboxes))
	if p.org != "" {
		out = append(out, p.checkTotals(ctx, places))
	}
	return out
}

// checkProbes warns of probes that come before a sandbox's idle time-out is over: each puts
// it off, and the sandbox would never end by itself.
func (p *Provider) checkProbes(seen []box) reconcile.CheckResult {
	every := p.entry.Probe.Every
	for _, b := range seen {
		idle, err := time.ParseDuration(b.Timeout.Idle)
		if err == nil && every > 0 && every <= idle && !p.entry.Probe.Off {
			return reconcile.CheckResult{What: "probes", Said: fmt.Sprintf(
				"sandbox %s ends when it was idle for %s; a probe every %s keeps it alive", wire.Clip(b.ID, 80), idle, every),
				Fix: "let probe.every be longer than the sandboxes' idle time-out"}
		}
	}
	return reconcile.CheckResult{What: "probes", OK: true, Said: "rarer than the idle time-outs that were seen"}
}

func (p *Provider) said(places []string) reconcile.CheckResult {
	out := reconcile.CheckResult{What: "regions", OK: true, Said: strings.Join(places, ", ")}
	if !p.everywhere() {
		out.Said = "one data plane at " + p.catalyst
	}
	if p.project != "" {
		out.Said += "; project " + p.project + " only"
	}
	return out
}

// checkTotals compares the organization's own count with what the listings show, where these
// are of the whole organization.
func (p *Provider) checkTotals(ctx context.Context, places []string) reconcile.CheckResult {
	in, _, err := fetch[struct {
		Services struct {
			Sandbox *struct {
				Active int `json:"totalActive"`
			} `json:"sandbox"`
		} `json:"services"`
	}](ctx, p, call{region: places[0], path: []string{"services", "stats", p.org},
		query: map[string][]string{"service": {"sandbox"}}, Call: wire.Call{What: totals}})
	if err != nil {
		return fixes.Failed(totals, err)
	}
	out := reconcile.CheckResult{What: totals, OK: true, Said: "the organization counts none"}
	if in.Services.Sandbox == nil {
		return out
	}
	out.Said = fmt.Sprintf("the organization counts %d active sandboxes", in.Services.Sandbox.Active)
	if p.project != "" {
		return out
	}
	listed := 0
	for _, place := range places {
		rows, _, err := (&reader{Provider: p, region: place}).rows(ctx, 0)
		if err != nil {
			return fixes.Failed(totals, err)
		}
		listed += *rows.Total
	}
	if listed < in.Services.Sandbox.Active {
		out.OK, out.Fix = false, "leave region: out, so that all regions are listed"
		out.Said += fmt.Sprintf(", the listings show %d", listed)
	}
	return out
}
