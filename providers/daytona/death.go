package daytona

import (
	"context"
	"net/url"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An entry is one of the organization's audit log: of the vendor's fields those that are used.
type auditEntry struct {
	Action     string     `json:"action"`
	TargetType string     `json:"targetType"`
	Target     string     `json:"targetId"`
	Email      string     `json:"actorEmail"`
	KeyPrefix  string     `json:"actorApiKeyPrefix"`
	Status     *int       `json:"statusCode"`
	CreatedAt  wire.Stamp `json:"createdAt"`
}

// What the audit log calls an end of a sandbox's run, by its users and by the system, and the begin of another.
var (
	endsByUser   = []string{"delete", "stop"}
	endsBySystem = []string{"auto_stop", "auto_delete", "ttl_expire", "spot_evict"}
	begins       = []string{"create", "start", "resume", "recover"}
)

// Death is what the audit log tells of the end of a sandbox: it is another store than the sandboxes are in. It says
// what was asked for and accepted, some seconds late, and is read only of what is over. The key needs the
// permission read:audit_logs. A server that does not know the filter answers with everything, and one that is older
// names no ends of the system.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		org, err := p.organization(ctx)
		if err != nil {
			return reconcile.Death{}, err
		}
		query := url.Values{"targetType[eq]": {"sandbox"}, "targetId[in]": {id}, "limit": {"200"},
			"action[in]": slices.Concat(endsByUser, endsBySystem, begins)}
		var in struct {
			Items []auditEntry `json:"items"`
		}
		a, err := p.client.Get(ctx, wire.Call{What: "audit log", Max: wire.MaxPage,
			URL: p.client.At("audit", "organizations", org) + "?" + query.Encode()}, &in)
		if err != nil {
			return reconcile.Death{}, err
		}
		d, err := lastEnd(in.Items, id)
		d.AsOf = a.Date
		return d, err
	})
}

// lastEnd is the newest end of the sandbox, unless a run began after it.
func lastEnd(log []auditEntry, id string) (reconcile.Death, error) {
	var last auditEntry
	for _, e := range log {
		if e.TargetType == "sandbox" && e.Target == id && e.says() && !e.CreatedAt.Before(last.CreatedAt.Time) {
			last = e
		}
	}
	if last.Action == "" || slices.Contains(begins, last.Action) {
		return reconcile.Death{}, wire.NoRecord("the audit log has no end of it")
	}
	by := last.Email
	if by == "" && last.KeyPrefix != "" {
		by = "key " + last.KeyPrefix + "…"
	}
	return reconcile.Death{At: last.CreatedAt.Time, Reason: last.Action, By: by, Record: "audit log"}, nil
}

// says reports whether the entry is of an end or a begin that was carried out. One without a status is under way, and
// 0 means that nobody knows what became of it. What the system did has no answer.
func (e *auditEntry) says() bool {
	if slices.Contains(endsBySystem, e.Action) {
		return e.Status == nil || *e.Status < 300
	}
	known := slices.Contains(endsByUser, e.Action) || slices.Contains(begins, e.Action)
	return known && e.Status != nil && *e.Status >= 200 && *e.Status < 300
}
