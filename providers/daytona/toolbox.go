package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// maxLog is the largest log that is read to save its end.
const maxLog = 8 << 20

// inside is the address of a path of the sandbox's own toolbox.
func (p *Provider) inside(ctx context.Context, s reconcile.Sandbox, path string) (string, error) {
	if err := wire.CheckID(s.ID); err != nil {
		return "", err
	}
	host := s.Endpoint
	if host == "" {
		var err error
		if host, err = p.endpoint(ctx, s.ID); err != nil {
			return "", fmt.Errorf("ask for the toolbox's address: %w", err)
		}
	}
	if err := p.client.MayKnowToken(host); err != nil {
		return "", err
	}
	return wire.Join(host, s.ID) + "/" + path, nil
}

func (p *Provider) endpoint(ctx context.Context, id string) (string, error) {
	var in struct {
		URL string `json:"url"`
	}
	k := wire.Call{What: "toolbox address", URL: p.client.At("sandbox", id, "toolbox-proxy-url")}
	_, err := p.client.Get(ctx, k, &in)
	return in.URL, err
}

// Logs is the end of what the sandbox's entry point printed, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	text, err := p.logs(ctx, s)
	return p.client.Tail(text, limit), p.base.Wrap("read logs of sandbox", s.ID, err)
}

func (p *Provider) logs(ctx context.Context, s reconcile.Sandbox) (string, error) {
	a, err := p.ask(ctx, s, wire.Call{What: "logs", URL: "process/session/entrypoint/logs", Max: maxLog})
	if err != nil {
		return "", err
	}
	if kind := a.Header.Get("Content-Type"); a.Status == http.StatusOK && strings.HasPrefix(kind, "text/plain") {
		return string(a.Body), nil
	}
	var in struct{ Output, Stdout, Stderr string }
	if err := p.client.Decode(a, &in); err != nil {
		return "", err
	}
	if in.Output == "" {
		return in.Stdout + in.Stderr, nil
	}
	return in.Output, nil
}

// Usage is what the sandbox uses right now, as it measures itself.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	a, err := p.ask(ctx, s, wire.Call{What: "usage", URL: "system/metrics"})
	var in struct {
		CPU                                    *float64 `json:"cpuUsedPct"`
		MemTotal, MemUsed, DiskTotal, DiskUsed int64
	}
	if err == nil {
		err = p.client.Decode(a, &in)
	}
	if err == nil && in.CPU == nil {
		err = errors.New("the answer holds no measurement")
	}
	if err != nil {
		return reconcile.Resources{}, p.base.Wrap("measure sandbox", s.ID, err)
	}
	return reconcile.Resources{CPUPercent: *in.CPU, MemoryUsed: in.MemUsed, MemoryTotal: in.MemTotal,
		DiskUsed: in.DiskUsed, DiskTotal: in.DiskTotal}, nil
}

// ask makes one call to the sandbox's toolbox; the call's url is a path in there.
func (p *Provider) ask(ctx context.Context, s reconcile.Sandbox, k wire.Call) (wire.Answer, error) {
	address, err := p.inside(ctx, s, k.URL)
	if err != nil {
		return wire.Answer{}, err
	}
	k.URL, k.Inside = address, true
	if k.Method == "" {
		k.Method = http.MethodGet
	}
	return p.client.Once(ctx, k)
}

func execBody(command string, seconds int) []byte {
	body, _ := json.Marshal(map[string]any{"command": command, "timeout": seconds}) // a text and a number always encode
	return body
}
