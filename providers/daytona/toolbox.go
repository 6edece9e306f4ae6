package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// maxLog is the largest log that is read to save its end.
const maxLog = 8 << 20

// inside is the address of a path of the sandbox's own toolbox.
func (p *Provider) inside(ctx context.Context, s reconcile.Sandbox, path string) (string, error) {
	if err := checkID(s.ID); err != nil {
		return "", err
	}
	host := s.Endpoint
	if host == "" {
		var err error
		if host, err = p.endpoint(ctx, s.ID); err != nil {
			return "", fmt.Errorf("ask for the toolbox's address: %w", err)
		}
	}
	if err := p.client.mayKnowToken(host); err != nil {
		return "", err
	}
	return strings.TrimRight(host, "/") + "/" + url.PathEscape(s.ID) + "/" + path, nil
}

func (p *Provider) endpoint(ctx context.Context, id string) (string, error) {
	a, err := p.client.read(ctx, call{what: "toolbox address", url: p.client.at("sandbox", id, "toolbox-proxy-url"),
		max: maxOne})
	if err != nil {
		return "", err
	}
	var in struct {
		URL string `json:"url"`
	}
	if err := p.client.decode(a, &in); err != nil {
		return "", err
	}
	return in.URL, nil
}

// mayKnowToken refuses to send the token in the clear to a host that the config does not
// name. The address comes from the control plane, and a proxy in between may have made it.
func (c *client) mayKnowToken(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the toolbox's address %q is none", clip(address, 100))
	case u.Scheme == "https", u.Scheme == "http" && (u.Host == c.base.Host || loopback(u.Hostname())):
		return nil
	}
	return fmt.Errorf("not sending the token to %s: it is neither https nor the host of url", clip(address, 100))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Logs is the end of what the sandbox's entry point printed, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	text, err := p.logs(ctx, s)
	if err != nil {
		return "", fmt.Errorf("read logs of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	text = p.client.redact(text)
	if len(text) > limit {
		text = text[len(text)-max(limit, 0):]
	}
	return strings.ToValidUTF8(text, ""), nil
}

func (p *Provider) logs(ctx context.Context, s reconcile.Sandbox) (string, error) {
	a, err := p.ask(ctx, s, call{what: "logs", url: "process/session/entrypoint/logs", max: maxLog})
	if err != nil {
		return "", err
	}
	if kind := a.header.Get("Content-Type"); a.status == http.StatusOK && strings.HasPrefix(kind, "text/plain") {
		return string(a.body), nil
	}
	var in struct{ Output, Stdout, Stderr string }
	if err := p.client.decode(a, &in); err != nil {
		return "", err
	}
	if in.Output == "" {
		return in.Stdout + in.Stderr, nil
	}
	return in.Output, nil
}

// Usage is what the sandbox uses right now, as it measures itself.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	a, err := p.ask(ctx, s, call{what: "usage", url: "system/metrics", max: maxOne})
	var in struct {
		CPU                                    *float64 `json:"cpuUsedPct"`
		MemTotal, MemUsed, DiskTotal, DiskUsed int64
	}
	if err == nil {
		err = p.client.decode(a, &in)
	}
	if err == nil && in.CPU == nil {
		err = errors.New("the answer holds no measurement")
	}
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("measure sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return reconcile.Resources{CPUPercent: *in.CPU, MemoryUsed: in.MemUsed, MemoryTotal: in.MemTotal,
		DiskUsed: in.DiskUsed, DiskTotal: in.DiskTotal}, nil
}

// ask makes one call to the sandbox's toolbox; the call's url is a path in there.
func (p *Provider) ask(ctx context.Context, s reconcile.Sandbox, k call) (answer, error) {
	address, err := p.inside(ctx, s, k.url)
	if err != nil {
		return answer{}, err
	}
	k.url, k.toolbox = address, true
	if k.method == "" {
		k.method = http.MethodGet
	}
	return p.client.once(ctx, k)
}

func execBody(command string, seconds int) []byte {
	body, _ := json.Marshal(map[string]any{"command": command, "timeout": seconds}) // a text and a number always encode
	return body
}
