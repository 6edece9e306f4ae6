package cloudflare

import (
	"cmp"
	"context"
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
	return "", p.base.Wrap("read the log of sandbox", s.ID, err)
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
	_, err := p.worker.Ask(ctx, wire.Call{What: "usage", Inside: true, URL: p.worker.At(s.ID, "resources")}, &in)
	if err == nil && in.CPU == nil {
		err = errors.New("the answer holds no measurement")
	}
	if err != nil {
		return reconcile.Resources{}, p.base.Wrap("measure sandbox", s.ID, err)
	}
	return reconcile.Resources{CPUPercent: *in.CPU, MemoryUsed: int64(in.Memory * (1 << 20))}, nil
}

// Quotas is how many instances the application runs of those that it may.
func (p *Provider) Quotas(ctx context.Context) ([]reconcile.Quota, error) {
	if p.control == nil {
		return nil, wire.Unable("the Worker does not say; give account, application and token")
	}
	app, err := p.control.read(ctx)
	if err != nil || app.Max <= 0 {
		return nil, p.base.Wrap("read", "quotas", err)
	}
	return []reconcile.Quota{{Name: "instances of " + text.Clip(app.Name, 80), Used: app.running(), Limit: app.Max}}, nil
}

var controlFixes = wire.Fixes{
	Refused: "create an API token with Workers Containers Read for this account, and set token: to it",
	URL:     "set account: and application: to ids that `wrangler containers list` shows, and url: to " + DefaultURL,
}

var workerFixes = wire.Fixes{
	Refused: "set worker_token: to the secret that the Worker compares with (ADMIN_TOKEN of the example Worker)",
	URL:     "set worker_url: to the address of the admin API, for example " + exampleWorker,
	Key:     keyWorkerURL,
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
	return append(out, p.checkHalves(ctx))
}

// checkHalves says what is configured and what it leaves undone. Where records and containers
// can be joined, but none is, one half is not of the other.
func (p *Provider) checkHalves(ctx context.Context) reconcile.CheckResult {
	const what = "halves"
	switch {
	case p.control == nil:
		return wire.Well(what, "Worker alone: what it says is believed; a container without a record is not seen")
	case p.worker == nil && p.control.kills:
		return wire.Well(what, "control plane alone, with instance_api: containers are seen and ended, nothing is probed")
	case p.worker == nil:
		return wire.Well(what, "control plane alone: containers are seen, nothing is ended or probed, "+
			"labels and tasks are not known")
	}
	j, err := p.join(ctx)
	if err == nil {
		err = each(ctx, j.containers, func(pair, time.Time) {})
	}
	if err != nil {
		return wire.Ill(what, "not compared: "+err.Error(), "fix what the lines above report of either")
	}
	running, met := 0, 0
	for _, of := range j.records {
		if of.runs() {
			running++
		}
		if of.runs() && j.met[of.record] {
			met++
		}
	}
	said := fmt.Sprintf("control plane and Worker: %d of %d records that say running have a container there", met, running)
	if running > 0 && met == 0 {
		return wire.Ill(what, said, "see that application: is the one in which the Worker runs its containers")
	}
	return wire.Well(what, said)
}

func (p *Provider) checkControl(ctx context.Context) []reconcile.CheckResult {
	app, err := p.control.read(ctx)
	if err != nil {
		line := controlFixes.Failed("application", err)
		line.Fix = cmp.Or(p.control.known(ctx, err), line.Fix)
		return []reconcile.CheckResult{line}
	}
	listing := p.base.CheckListing(ctx, p.pages(p.control.pages("")), controlFixes)
	listing.What = "containers"
	return []reconcile.CheckResult{wire.Well("application", fmt.Sprintf("%s, about %.0f of at most %.0f instances run",
		text.Clip(app.Name, 80), app.running(), app.Max)), listing}
}

// known names the applications that there are, where the one that is configured is not.
func (c *control) known(ctx context.Context, err error) string {
	if !errors.Is(err, reconcile.ErrNotFound) {
		return ""
	}
	all, _, _ := result[[]application](ctx, c, "applications", c.At("accounts", c.account, "containers", "applications"))
	var names []string
	for _, a := range all {
		names = append(names, a.ID+" ("+a.Name+")")
	}
	if len(names) == 0 {
		return ""
	}
	return "set application: to one of " + text.Clip(strings.Join(names, ", "), 300)
}

func (p *Provider) checkWorker(ctx context.Context) []reconcile.CheckResult {
	in, err := p.worker.page(ctx, "")
	read := func(context.Context, string) (wire.Page, error) { return p.shown(in), err }
	listing := p.base.CheckListing(ctx, read, workerFixes)
	listing.What = "Worker"
	if err != nil {
		return []reconcile.CheckResult{listing}
	}
	out := []reconcile.CheckResult{listing, p.worker.checkOpen(ctx), checkContainers(in.pairs)}
	if in.next == "" {
		out = append(out, p.worker.checkStats(ctx, in.pairs))
	}
	return append(out, p.worker.checkAudit(ctx))
}

// openCall is a call without a credential, to see whether the Worker answers everybody.
const openCall = "list without a token"

// checkOpen warns of a Worker that answers everybody, as the runbook's did.
func (w *worker) checkOpen(ctx context.Context) reconcile.CheckResult {
	const what = "Worker's token"
	a, err := w.Once(ctx, wire.Call{What: openCall, Method: http.MethodGet, Inside: true, URL: w.At("list") + "?limit=1",
		Max: wire.MaxPage})
	switch {
	case err != nil:
		return wire.Well(what, "not tested: "+text.Clip(err.Error(), 160))
	case a.OK():
		return wire.Ill(what, "the Worker answers without a token: everybody can list, and perhaps end, sandboxes",
			"let the Worker demand Authorization: Bearer on every path of the admin API")
	}
	return wire.Well(what, "a call without it is refused")
}

// checkContainers warns of a Worker that never tells of the containers behind its records.
func checkContainers(records []pair) reconcile.CheckResult {
	const what = "Worker's containers"
	tells := func(of pair) bool { return of.runs() && of.record.Container != "" }
	switch {
	case slices.ContainsFunc(records, tells):
		return wire.Well(what, "records tell what runs behind them")
	case slices.ContainsFunc(records, pair.runs):
		return wire.Odd(what, "no record tells what runs behind it: record-without-container finds only what failed",
			"let the Worker's list tell container: running, stopped, missing or unknown, as deploy/cloudflare-worker does")
	}
	return wire.Well(what, "no record says running yet")
}

// checkStats holds the Worker's counters against its list. Whether they count what failed, and
// what is in states that nobody else knows, is the Worker's to say.
func (w *worker) checkStats(ctx context.Context, records []pair) reconcile.CheckResult {
	const what = "Worker's counts"
	var in struct {
		Active       *int `json:"active"`
		Provisioning int  `json:"provisioning"`
		Terminating  int  `json:"terminating"`
	}
	if _, err := w.Get(ctx, wire.Call{What: "stats", URL: w.At("stats")}, &in); err != nil || in.Active == nil {
		return wire.Well(what, "it has no stats")
	}
	named := 0
	for _, of := range records {
		switch ofRecord[of.record.Status] {
		case reconcile.SandboxRunning, reconcile.SandboxCreating, reconcile.SandboxDeleting:
			named++
		}
	}
	counted := *in.Active + in.Provisioning + in.Terminating
	said := fmt.Sprintf("%d counted, %d listed", counted, len(records))
	if counted < named || counted > len(records) {
		return wire.Ill(what, said, "let the Worker count and list the same registry; its GET /audit names what differs")
	}
	return wire.Well(what, said)
}

// checkAudit shows what the Worker itself finds, where it looks.
func (w *worker) checkAudit(ctx context.Context) reconcile.CheckResult {
	var in struct {
		Records []string `json:"orphaned_records"`
		Actual  []string `json:"orphaned_actual"`
	}
	if _, err := w.Get(ctx, wire.Call{What: "audit", URL: w.At("audit")}, &in); err != nil {
		return wire.Well("Worker's audit", "it has none")
	}
	return wire.Well("Worker's audit", fmt.Sprintf("%d records without a container, %d containers without a record",
		len(in.Records), len(in.Actual)))
}
