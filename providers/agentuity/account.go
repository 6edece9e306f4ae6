package agentuity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var fixes = wire.Fixes{
	Refused: "create an SDK key of the project, or a CLI key of a member of the organization, and set token: to it",
	URL:     "leave url: and catalyst: out, for the vendor's cloud, or correct them",
}

// Check tests the key, and the listing of every region, and compares what they show with the
// organization's totals.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	places, err := p.named(ctx)
	if err != nil {
		line := fixes.Failed("credential", err)
		if errors.Is(err, reconcile.ErrUnauthorized) {
			line.Fix = "with an SDK key name the regions in region:, which it may not ask for; else " + line.Fix
		}
		return []reconcile.CheckResult{line}
	}
	first := p.reader(places[0])
	if err := first.read(ctx, 0); err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	out := []reconcile.CheckResult{wire.Well("credential", "accepted"), p.said(places)}
	for _, place := range places {
		line := p.base.CheckListing(ctx, p.reader(place).page, fixes)
		line.What = strings.TrimSpace("listing " + place)
		out = append(out, line)
	}
	out = append(out, wire.LimitsLeft(first.answer.Header, "X-RateLimit-Remaining"), p.checkProbes(first.rows))
	if p.org != "" {
		out = append(out, p.checkTotals(ctx, places[0]))
	}
	return out
}

// checkTotals compares the organization's own count of what is active with the listings, where
// these are of the whole organization.
func (p *Provider) checkTotals(ctx context.Context, place string) reconcile.CheckResult {
	in, _, err := ask[struct {
		Services struct {
			Sandbox struct {
				Active int `json:"totalActive"`
			} `json:"sandbox"`
		} `json:"services"`
	}](ctx, p, p.at(place, totals, url.Values{"service": {"sandbox"}}, "services", "stats", p.org))
	if err != nil {
		return fixes.Failed(totals, err)
	}
	active := in.Data.Services.Sandbox.Active
	said := fmt.Sprintf("the organization counts %d active sandboxes", active)
	if p.project != "" {
		return wire.Well(totals, said)
	}
	listed := 0
	listing, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			if page[i].State == reconcile.SandboxRunning || page[i].State == reconcile.SandboxCreating {
				listed++
			}
		}
		return nil
	})
	if err == nil && listing.Complete && listed < active {
		return wire.Ill(totals, fmt.Sprintf("%s, the listings show %d", said, listed),
			"leave region: out, so that all regions are listed")
	}
	return wire.Well(totals, said)
}

func (p *Provider) said(places []string) reconcile.CheckResult {
	said := strings.Join(places, ", ")
	if !p.everywhere() {
		said = "one data plane at " + p.catalyst
	}
	if p.project != "" {
		said += "; project " + p.project + " only"
	}
	return wire.Well("regions", said)
}

// checkProbes warns of probes that come before a sandbox's idle time-out is over: each puts
// it off, and the sandbox would never end by itself.
func (p *Provider) checkProbes(seen []box) reconcile.CheckResult {
	every := p.entry.Probe.Every
	for _, b := range seen {
		idle, err := time.ParseDuration(b.Timeout.Idle)
		if err == nil && every > 0 && every <= idle && !p.entry.Probe.Off {
			return wire.Odd("probes", fmt.Sprintf("sandbox %s ends when it was idle for %s; a probe every %s keeps it alive",
				text.Clip(b.ID, 80), idle, every), "let probe.every be longer than the sandboxes' idle time-out")
		}
	}
	return wire.Well("probes", "rarer than the idle time-outs that were seen")
}

// Logs is the end of what is known of the sandbox's life: its events, then what it printed.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	events, err := p.events(ctx, s)
	if err != nil {
		return "", p.base.Wrap("read events of sandbox", s.ID, err)
	}
	var text strings.Builder
	for _, e := range slices.Backward(events) {
		payload, _ := json.Marshal(e.Event) // came as JSON
		fmt.Fprintf(&text, "%s %s %s\n", e.CreatedAt.Format("2006-01-02T15:04:05Z"), e.Type, payload)
	}
	b, _, err := p.get(ctx, s.ID)
	if err != nil {
		return "", p.base.Wrap("read sandbox", s.ID, err)
	}
	if err := p.printed(ctx, b, &text); err != nil {
		fmt.Fprintf(&text, "(what it printed could not be read: %s)\n", err)
	}
	return p.client.Tail(text.String(), limit), nil
}

// maxLog is the largest log that is read to save its end.
const maxLog = 8 << 20

// printed adds what stands in a stream. Its address is public, and comes from the data plane.
func (p *Provider) printed(ctx context.Context, b box, out *strings.Builder) error {
	if b.Output == "" {
		return nil
	}
	u, err := url.Parse(b.Output)
	home := strings.ReplaceAll(p.catalyst, inRegion, b.Region)
	if err != nil || u.Host == "" || u.Scheme != "https" && !strings.HasPrefix(home+"/", "http://"+u.Host+"/") {
		return fmt.Errorf("its address %q is none", text.Clip(b.Output, 100))
	}
	query := u.Query()
	query.Set("v", "2")
	u.RawQuery = query.Encode()
	a, err := p.client.Once(ctx, wire.Call{What: output, Method: http.MethodGet, URL: u.String(), Accept: "text/plain",
		Max: maxLog, Inside: true})
	if err == nil && !a.OK() {
		err = p.client.Refuse(a)
	}
	if err == nil {
		out.Write(a.Body)
	}
	return err
}
