package agentuity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	output = "output" // the call that goes to a public address, without the credential
	maxLog = 8 << 20  // the largest log that is read to save its end
)

// Logs is the end of what is known of the sandbox's life: its events, then what it printed.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	events, err := p.events(ctx, s)
	if err != nil {
		return "", fmt.Errorf("read events of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	slices.Reverse(events) // they came newest first
	var text strings.Builder
	for _, e := range events {
		payload, _ := json.Marshal(e.Event) // came as JSON
		fmt.Fprintf(&text, "%s %s %s\n", e.CreatedAt.Format("2006-01-02T15:04:05Z"), e.Type, payload)
	}
	b, _, err := p.get(ctx, s.ID)
	if err != nil {
		return "", fmt.Errorf("read sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	if printed, err := p.printed(ctx, b); err == nil {
		text.WriteString(printed)
	} else {
		fmt.Fprintf(&text, "(what it printed could not be read: %s)\n", err)
	}
	return p.client.Tail(text.String(), limit), nil
}

// printed reads a stream. Its address is public, and comes from the data plane.
func (p *Provider) printed(ctx context.Context, b box) (string, error) {
	if b.Output == "" {
		return "", nil
	}
	u, err := url.Parse(b.Output)
	home := strings.ReplaceAll(p.catalyst, inRegion, b.Region)
	if err != nil || u.Host == "" || u.Scheme != "https" && !strings.HasPrefix(home+"/", "http://"+u.Host+"/") {
		return "", fmt.Errorf("its address %q is none", wire.Clip(b.Output, 100))
	}
	query := u.Query()
	query.Set("v", "2")
	u.RawQuery = query.Encode()
	a, err := p.client.Once(ctx, wire.Call{What: output, Method: http.MethodGet, URL: u.String(), Accept: "text/plain",
		Max: maxLog, Inside: true})
	if err != nil {
		return "", err
	}
	if !a.OK() {
		return "", p.client.Refuse(a)
	}
	return string(a.Body), nil
}
