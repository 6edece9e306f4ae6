package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

type usage struct {
	Regions []struct {
		Region      string  `json:"regionId"`
		Class       string  `json:"sandboxClass"`
		CPU         float64 `json:"currentCpuUsage"`
		CPULimit    float64 `json:"totalCpuQuota"`
		Memory      float64 `json:"currentMemoryUsage"`
		MemoryLimit float64 `json:"totalMemoryQuota"`
		Disk        float64 `json:"currentDiskUsage"`
		DiskLimit   float64 `json:"totalDiskQuota"`
		GPU         float64 `json:"currentGpuUsage"`
		GPULimit    float64 `json:"totalGpuQuota"`
	} `json:"regionUsage"`
	Snapshots     float64 `json:"currentSnapshotUsage"`
	SnapshotLimit float64 `json:"totalSnapshotQuota"`
}

// Quotas is how much of the organization's quotas is used, region by region.
func (p *Provider) Quotas(ctx context.Context) ([]reconcile.Quota, error) {
	in, err := p.usage(ctx)
	if err != nil {
		return nil, fmt.Errorf("read quotas of %s: %w", p.entry.Name, err)
	}
	out := []reconcile.Quota{{Name: "snapshots", Used: in.Snapshots, Limit: in.SnapshotLimit}}
	for _, r := range in.Regions {
		place := " in " + strings.TrimSpace(r.Region+" "+r.Class)
		out = append(out,
			reconcile.Quota{Name: "cpu" + place, Used: r.CPU, Limit: r.CPULimit},
			reconcile.Quota{Name: "memory" + place, Used: r.Memory, Limit: r.MemoryLimit},
			reconcile.Quota{Name: "disk" + place, Used: r.Disk, Limit: r.DiskLimit},
			reconcile.Quota{Name: "gpu" + place, Used: r.GPU, Limit: r.GPULimit})
	}
	return slices.DeleteFunc(out, func(q reconcile.Quota) bool { return q.Limit <= 0 }), nil
}

func (p *Provider) usage(ctx context.Context) (usage, error) {
	var in usage
	org, err := p.organization(ctx)
	if err != nil {
		return in, err
	}
	_, err = p.client.Get(ctx, wire.Call{What: "usage", URL: p.client.At("organizations", org, "usage")}, &in)
	if err == nil && in.Regions == nil {
		err = errors.New("the answer holds no usage")
	}
	return in, err
}

// organization is the id that usage is asked by. An API key belongs to one organization
// and does not say which; every sandbox does, and one is enough for good.
func (p *Provider) organization(ctx context.Context) (string, error) {
	if id := p.entry.Extra["organization"]; id != "" {
		return id, wire.CheckID(id)
	}
	if id, told := p.org.Load().(string); told {
		return id, wire.CheckID(id)
	}
	var in struct {
		Items []struct {
			Organization string `json:"organizationId"`
		} `json:"items"`
	}
	k := wire.Call{What: "organization", URL: p.client.At("sandbox") + "?limit=1"}
	if _, err := p.client.Get(ctx, k, &in); err != nil {
		return "", err
	}
	if len(in.Items) == 0 {
		return "", errors.New("no sandbox names the organization; set organization: in the provider's entry")
	}
	id := in.Items[0].Organization
	p.belongs(id)
	return id, wire.CheckID(id)
}

// belongs remembers the organization that a sandbox told.
func (p *Provider) belongs(id string) {
	if wire.CheckID(id) == nil && p.org.Load() == nil {
		p.org.Store(strings.Clone(id)) // keeps nothing of the page alive
	}
}

type apiKey struct {
	Name        string     `json:"name"`
	Permissions []string   `json:"permissions"`
	ExpiresAt   wire.Stamp `json:"expiresAt"`
}

var fixes = wire.Fixes{
	Refused: "create an API key in the dashboard and set token: to it",
	URL:     "set url: to the address that ends with /api, for example " + DefaultURL,
}

// Check tests the key, what it may do, and the listing. A server that works and does not tell of
// keys is well; what the key may do is then not known.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	var key apiKey
	a, err := p.client.Get(ctx, wire.Call{What: "key", URL: p.client.At("api-keys", "current")}, &key)
	if err == nil && key.Name == "" {
		err = errors.New("the answer names no key")
	}
	if errors.Is(err, reconcile.ErrUnauthorized) {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	listing := p.base.CheckListing(ctx, p.pages(p.entry.Owns.Labels), fixes)
	switch {
	case err != nil && listing.OK && a.Status == http.StatusNotFound:
		return []reconcile.CheckResult{wire.Odd("credential", "it lists; what it may do is not told: "+err.Error(),
			"see for yourself that the key may end and stop sandboxes"), listing}
	case err != nil:
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	out := append([]reconcile.CheckResult{wire.Well("credential", "key "+key.Name), expiry(key, a)}, permissions(key)...)
	return append(out, wire.LimitsLeft(a.Header, "X-RateLimit-Remaining"), listing)
}

func expiry(key apiKey, a wire.Answer) reconcile.CheckResult {
	const what = "key's expiry"
	said := "expires " + text.Time(key.ExpiresAt.Time)
	switch {
	case key.ExpiresAt.IsZero():
		return wire.Well(what, "never expires")
	case key.ExpiresAt.Sub(a.Date) < deactivatedAfter:
		return wire.Odd(what, said, "create a new API key before then and set token: to it")
	}
	return wire.Well(what, said)
}

func permissions(key apiKey) []reconcile.CheckResult {
	needed := []struct {
		what, permission string
		lacks            func(what, said, fix string) reconcile.CheckResult
	}{
		{"terminate sandboxes", "delete:sandboxes", wire.Ill},
		{"stop sandboxes", "write:sandboxes", wire.Odd}, // quarantine alone needs it
		{"activate snapshots", "write:snapshots", wire.Odd},
		{"read how sandboxes ended", "read:audit_logs", wire.Odd}, // without it a second look tells
	}
	var out []reconcile.CheckResult
	for _, n := range needed {
		line := wire.Well(n.what, n.permission)
		if !slices.Contains(key.Permissions, n.permission) {
			line = n.lacks(n.what, "the key lacks "+n.permission, "create a key with the permission "+n.permission)
		}
		out = append(out, line)
	}
	return out
}
