package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
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
	a, err := p.client.read(ctx, call{what: "usage", url: p.client.at("organizations", org, "usage"), max: maxOne})
	if err == nil {
		err = p.client.decode(a, &in)
	}
	if err == nil && in.Regions == nil {
		err = errors.New("the answer holds no usage")
	}
	return in, err
}

// organization is the id that usage is asked by. An API key belongs to one organization
// and does not say which; every sandbox does, and one is enough for good.
func (p *Provider) organization(ctx context.Context) (string, error) {
	if id := p.entry.Extra["organization"]; id != "" {
		return id, checkID(id)
	}
	if id, told := p.org.Load().(string); told {
		return id, checkID(id)
	}
	a, err := p.client.read(ctx, call{what: "organization", url: p.client.at("sandbox") + "?limit=1", max: maxOne})
	if err != nil {
		return "", err
	}
	var in struct {
		Items []struct {
			Organization string `json:"organizationId"`
		} `json:"items"`
	}
	if err := p.client.decode(a, &in); err != nil {
		return "", err
	}
	if len(in.Items) == 0 {
		return "", errors.New("no sandbox names the organization; set organization: in the provider's entry")
	}
	id := in.Items[0].Organization
	p.belongs(id)
	return id, checkID(id)
}

// belongs remembers the organization that a sandbox told.
func (p *Provider) belongs(id string) {
	if checkID(id) == nil && p.org.Load() == nil {
		p.org.Store(strings.Clone(id)) // keeps nothing of the page alive
	}
}

type apiKey struct {
	Name        string   `json:"name"`
	Permissions []string `json:"permissions"`
	ExpiresAt   stamp    `json:"expiresAt"`
}

// Check tests the key, what it may do, and the listing.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	a, err := p.client.read(ctx, call{what: "key", url: p.client.at("api-keys", "current"), max: maxOne})
	var key apiKey
	if err == nil {
		err = p.client.decode(a, &key)
	}
	if err == nil && key.Name == "" {
		err = errors.New("the answer names no key")
	}
	if err != nil {
		return []reconcile.CheckResult{{What: "credential", Said: clip(err.Error(), 300), Fix: fixOf(err)}}
	}
	out := []reconcile.CheckResult{{What: "credential", OK: true, Said: "key " + key.Name}, expiry(key, a)}
	out = append(out, permissions(key)...)
	return append(out, limitsLeft(a.header), p.checkListing(ctx))
}

func fixOf(err error) string {
	switch {
	case errors.Is(err, reconcile.ErrUnauthorized):
		return "create an API key in the dashboard and set token: to it"
	case errors.Is(err, reconcile.ErrThrottled):
		return "wait, or lower rate: other programs share the limit"
	case errors.Is(err, errNoJSON), errors.Is(err, reconcile.ErrNotFound):
		return "set url: to the address that ends with /api, for example " + DefaultURL
	}
	return "see that the address in url: can be reached from here"
}

func expiry(key apiKey, a answer) reconcile.CheckResult {
	out := reconcile.CheckResult{What: "key's expiry", OK: true, Said: "never expires"}
	if key.ExpiresAt.IsZero() {
		return out
	}
	out.Said = "expires " + key.ExpiresAt.Format("2006-01-02 15:04")
	if key.ExpiresAt.Sub(a.date) < deactivatedAfter {
		out.OK, out.Fix = false, "create a new API key before then and set token: to it"
	}
	return out
}

func permissions(key apiKey) []reconcile.CheckResult {
	needed := []struct{ what, permission string }{
		{"terminate sandboxes", "delete:sandboxes"},
		{"stop sandboxes", "write:sandboxes"},
		{"activate snapshots", "write:snapshots"},
	}
	var out []reconcile.CheckResult
	for _, n := range needed {
		r := reconcile.CheckResult{What: n.what, OK: slices.Contains(key.Permissions, n.permission), Said: n.permission}
		if !r.OK {
			r.Said, r.Fix = "the key lacks "+n.permission, "create a key with the permission "+n.permission
		}
		out = append(out, r)
	}
	return out
}

// limitsLeft shows what the provider's limiters say is left. The provider's documents
// disagree about the limits; its headers do not.
func limitsLeft(h http.Header) reconcile.CheckResult {
	var said []string
	for name := range h {
		if limiter, ok := strings.CutPrefix(name, "X-Ratelimit-Remaining"); ok {
			said = append(said, strings.ToLower(strings.TrimPrefix(limiter+" ", "-"))+clip(h.Get(name), 20)+" left")
		}
	}
	slices.Sort(said)
	return reconcile.CheckResult{What: "rate limit", OK: true, Said: first(strings.Join(said, ", "), "not said")}
}

func (p *Provider) checkListing(ctx context.Context) reconcile.CheckResult {
	out := reconcile.CheckResult{What: "listing", OK: true}
	query, err := listQuery(p.entry.Owns.Labels)
	if err == nil {
		var one listed
		one, _, err = p.page(ctx, query)
		owned := 0
		for _, s := range one.sandboxes {
			if s.Owned {
				owned++
			}
		}
		out.Said = fmt.Sprintf("first page: %d sandboxes, %d owned", len(one.sandboxes), owned)
	}
	if err != nil {
		return reconcile.CheckResult{What: "listing", Said: clip(err.Error(), 300), Fix: fixOf(err)}
	}
	return out
}
