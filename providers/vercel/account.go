package vercel

import (
	"context"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var fixes = wire.Fixes{
	Refused: "create an access token whose scope is the team, and set token:, team: and project: to what belongs together",
	URL:     "set url: to " + DefaultURL + ", and project: to the id in the project's settings",
}

// Check tests the token with team and project, and the listing. Whether the token may stop
// sandboxes cannot be asked without doing it.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	query := withStatus(running)
	query.Set("project", p.project)
	query.Set("limit", "1")
	a, err := p.client.Get(ctx, wire.Call{What: "check", URL: p.at(query)}, &page{})
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("credential", err)}
	}
	return []reconcile.CheckResult{
		wire.Well("credential", "may list project "+p.project),
		p.token(),
		wire.LimitsLeft(a.Header, "X-RateLimit-Remaining"),
		p.base.CheckListing(ctx, p.pages(withStatus(running)), fixes),
		p.rows(),
		p.ends(),
	}
}

// token tells a token that lasts from one that a deployment or a pipeline was lent.
func (p *Provider) token() reconcile.CheckResult {
	if strings.Count(p.entry.Token, ".") == 2 {
		return wire.Ill("token", "it is lent to one deployment or job, and ends within a day",
			"create an access token in the account's settings and set token: to it")
	}
	return wire.Well("token", "an access token")
}

func (p *Provider) rows() reconcile.CheckResult {
	said := map[string]string{
		"":     "rows do not name sandboxes",
		"name": "rows hold names, or ids from before there were sessions",
		"id":   "rows must hold ids of sessions (sbx_…); where they hold names, set link: {sandbox: name}",
	}[p.entry.Link.Sandbox]
	if said == "" {
		said = "rows hold " + p.entry.Link.Sandbox
	}
	return wire.Well("link", said)
}

func (p *Provider) ends() reconcile.CheckResult {
	if p.deletes {
		return wire.Well("terminate", "deletes the sandbox by its name, with its saved disk")
	}
	return wire.Well("terminate", "stops the session; the saved disk stays until it expires")
}
