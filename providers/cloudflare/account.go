package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// openCall is a call without a credential, to see whether the Worker answers everybody.
const openCall = "list without a token"

var errNoWorker = wire.Unable("the control plane alone does not say; give worker_url")

// Logs is the end of what the Worker shows as the sandbox's log. Its form is the Worker's own.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	if p.worker == nil {
		return "", errNoWorker
	}
	a, err := p.worker.Once(ctx, wire.Call{What: "logs", Method: http.MethodGet, Inside: true,
		URL:    p.worker.At(s.ID, "logs") + "?" + url.Values{"tail": {"200"}}.Encode(),
		Accept: "text/plain, application/json", Max: wire.MaxPage}) // who does not know tail sends all
	switch {
	case err != nil:
	case !a.OK():
		err = p.worker.Refuse(a)
	case strings.Contains(a.Header.Get("Content-Type"), "html"):
		err = wire.ErrNotAPI
	default:
		return p.worker.Tail(string(a.Body), limit), nil
	}
	return "", fmt.Errorf("read the log of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
}

// Usage is what the sandbox uses, as the Worker measures it. It knows no limit.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	if p.worker == nil {
		return reconcile.Resources{}, errNoWorker
	}
	var in struct {
		CPU    *float64 `json:"cpu_percent"`
		Memory float64  `json:"memory_mb"`
	}
	a, err := p.worker.Once(ctx, wire.Call{What: "usage", Method: http.MethodGet, Inside: true,
		URL: p.worker.At(s.ID, "resources")})
	if err == nil {
		err = p.worker.Decode(a, &in)
	}
	if err == nil && in.CPU == nil {
		err = errors.New("the answer holds no measurement")
	}
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("measure sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return reconcile.Resources{CPUPercent: *in.CPU, MemoryUsed: int64(in.Memory * (1 << 20))}, nil
}

// Quotas is how many instances the application runs of those that it may.
func (p *Provider) Quotas(ctx context.Context) ([]reconcile.Quota, error) {
	if p.control == nil {
		return nil, wire.Unable("the Worker does not say; give account, application and token")
	}
	app, _, err := p.application(ctx)
	if err != nil {
		return nil, fmt.Errorf("read quotas of %s: %w", p.entry.Name, err)
	}
	if app.Max <= 0 {
		return nil, nil
	}
	return []reconcile.Quota{{Name: "instances of " + wire.Clip(app.Name, 80), Used: app.running(), Limit: app.Max}}, nil
}

// running is about how many containers run for objects.
func (a application) running() float64 {
	return a.Health.Instances.Active + a.Health.Instances.Assigned
}

var controlFixes = wire.Fixes{
	Refused: "create an API token with Workers Containers Read for this account, and set token: to it",
	URL:     "set account: and application: to ids that `wrangler containers list` shows, and url: to " + DefaultURL,
}

var workerFixes = wire.Fixes{
	Refused: "set worker_token: to the secret that the Worker compares with (ADMIN_TOKEN of the example Worker)",
	URL:     "set worker_url: to the address of the admin API, for example " + exampleWorker,
}

// Check tests each half that is configured, and says which is.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	var out []reconcile.CheckResult
	if p.control != nil {
		out = append(out, p.checkControl(ctx)...)
	}
	if p.worker != nil {
		out = append(out, p.checkWorker(ctx)...)
	}
	return append(out, p.halves())
}

// halves says what is configured, and what it leaves undone.
func (p *Provider) halves() reconcile.CheckResult {
	r := reconcile.CheckResult{What: "halves", OK: true,
		Said: "control plane and Worker: records are joined with containers"}
	switch {
	case p.worker == nil && p.entry.Extra[keyInstances] == "true":
		r.Said = "control plane alone, with instance_api: containers are seen and ended, nothing is probed"
	case p.worker == nil:
		r.Said = "control plane alone: containers are seen, nothing is ended or probed, labels and tasks are not known"
	case p.control == nil:
		r.Said = "Worker alone: what it says is believed; a container without a record is not seen"
	}
	return r
}

func (p *Provider) checkControl(ctx context.Context) []reconcile.CheckResult {
	app, _, err := p.application(ctx)
	if err != nil {
		r := controlFixes.Failed("application", err)
		r.Fix = cmp.Or(p.known(ctx, err), r.Fix)
		return []reconcile.CheckResult{r}
	}
	said := fmt.Sprintf("%s, about %.0f of at most %.0f instances run", wire.Clip(app.Name, 80), app.running(), app.Max)
	listing := p.frame.CheckListing(ctx, p.containers, controlFixes)
	listing.What = "containers"
	return []reconcile.CheckResult{{What: "application", OK: true, Said: said}, listing}
}

// known names the applications that there are, where the one that is configured is not.
func (p *Provider) known(ctx context.Context, err error) string {
	if !errors.Is(err, reconcile.ErrNotFound) {
		return ""
	}
	var in envelope[[]application]
	k := wire.Call{What: "applications",
		URL: p.control.At("accounts", p.entry.Extra[keyAccount], "containers", "applications")}
	if _, err := p.control.Get(ctx, k, &in); err != nil || len(in.Result) == 0 {
		return ""
	}
	var names []string
	for _, a := range in.Result {
		names = append(names, a.ID+" ("+a.Name+")")
	}
	return "set application: to one of " + wire.Clip(strings.Join(names, ", "), 300)
}

func (p *Provider) checkWorker(ctx context.Context) []reconcile.CheckResult {
	page, a, next, err := p.registry(ctx, "")
	if err != nil {
		return []reconcile.CheckResult{workerFixes.Failed("Worker", err)}
	}
	owned := 0
	for i := range page {
		if p.sandbox(pair{record: &page[i], blind: true}, a.Date).Owned {
			owned++
		}
	}
	out := []reconcile.CheckResult{
		{What: "Worker", OK: true, Said: fmt.Sprintf("first page: %d records, %d owned", len(page), owned)},
		p.checkOpen(ctx),
	}
	if next == "" {
		out = append(out, p.checkStats(ctx, len(page)))
	}
	return append(out, p.checkAudit(ctx))
}

// checkOpen warns of a Worker that answers everybody, as the runbook's did.
func (p *Provider) checkOpen(ctx context.Context) reconcile.CheckResult {
	r := reconcile.CheckResult{What: "Worker's token", OK: true, Said: "a call without it is refused"}
	a, err := p.worker.Once(ctx, wire.Call{What: openCall, Method: http.MethodGet, Inside: true,
		URL: p.worker.At("list") + "?limit=1", Max: wire.MaxPage})
	switch {
	case err != nil:
		r.Said = "not tested: " + wire.Clip(err.Error(), 160)
	case a.OK():
		r.OK, r.Said = false, "the Worker answers without a token: everybody can list, and perhaps end, sandboxes"
		r.Fix = "let the Worker demand Authorization: Bearer on every path of the admin API"
	}
	return r
}

// checkStats holds the Worker's counters against its list.
func (p *Provider) checkStats(ctx context.Context, listed int) reconcile.CheckResult {
	var in struct {
		Active       *int `json:"active"`
		Provisioning int  `json:"provisioning"`
		Terminating  int  `json:"terminating"`
	}
	_, err := p.worker.Get(ctx, wire.Call{What: "stats", URL: p.worker.At("stats")}, &in)
	r := reconcile.CheckResult{What: "Worker's counts", OK: true, Said: "it has no stats"}
	if err != nil || in.Active == nil {
		return r
	}
	counted := *in.Active + in.Provisioning + in.Terminating
	r.Said = fmt.Sprintf("%d counted, %d listed", counted, listed)
	if counted != listed {
		r.OK, r.Fix = false, "see that the Worker counts and lists the same registry; its GET /audit names what differs"
	}
	return r
}

// checkAudit shows what the Worker itself finds, where it looks.
func (p *Provider) checkAudit(ctx context.Context) reconcile.CheckResult {
	var in struct {
		Records []string `json:"orphaned_records"`
		Actual  []string `json:"orphaned_actual"`
	}
	_, err := p.worker.Get(ctx, wire.Call{What: "audit", URL: p.worker.At("audit")}, &in)
	if err != nil {
		return reconcile.CheckResult{What: "Worker's audit", OK: true, Said: "it has none"}
	}
	return reconcile.CheckResult{What: "Worker's audit", OK: true, Said: fmt.Sprintf(
		"%d records without a container, %d containers without a record", len(in.Records), len(in.Actual))}
}
