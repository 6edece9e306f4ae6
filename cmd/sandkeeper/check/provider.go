package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

func checkProvider(ctx context.Context, a *app.App, e providers.Entry) []reconcile.CheckResult {
	p, err := a.OpenProvider(e)
	if err != nil {
		return fails("opens", errors.New(strings.TrimPrefix(err.Error(), "open provider "+e.Name+": ")))
	}
	can := reconcile.CapabilitiesOf(p)
	out := []reconcile.CheckResult{{What: "capabilities", OK: true, Said: capabilities(can)}}
	if can.Checker != nil {
		out = append(out, can.Checker.Check(ctx)...)
	}
	out = append(out, workerUnasked(a.Config.Tasks.Preset, a.Config.Policy().Providers[e.Name].Probe, can)...)
	out = append(out, linkless(a.Config.Policy(), e.Name)...)
	out = append(out, checkLinks(ctx, a, e, p)...)
	out = append(out, lacking(a.Config.Policy(), can, otherProviders(a, e))...)
	out = append(out, checkCanary(ctx, a, e.Name, can)...)
	if can.Templates != nil {
		for _, name := range e.Templates {
			out = append(out, checkTemplate(ctx, can.Templates, name))
		}
	}
	return out
}

// otherProviders are what the providers of the other entries can do, without those that do not open.
func otherProviders(a *app.App, but providers.Entry) []reconcile.Capabilities {
	var out []reconcile.Capabilities
	for _, e := range a.Config.Entries() {
		if e.Name == but.Name {
			continue
		}
		if p, err := a.OpenProvider(e); err == nil {
			out = append(out, reconcile.CapabilitiesOf(p))
		}
	}
	return out
}

// capabilities are what the provider can do, and what of the optional parts.
func capabilities(can reconcile.Capabilities) string {
	parts := []string{"list", "get", "find"}
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"terminate", !can.NoTerminate}, {"probe", !can.NoProbe},
		{"templates", can.Templates != nil}, {"quarantine", can.Suspender != nil}, {"logs", can.Logs != nil},
		{"usage", can.Usage != nil}, {"executions", can.Executions != nil}, {"quotas", can.Quotas != nil},
		{"records of ends", can.Deaths != nil}, {"stream", can.Streams != nil},
	} {
		if part.has {
			parts = append(parts, part.name)
		}
	}
	return strings.Join(parts, ", ")
}

// workerUnasked proposes the command for the worker of a preset's platform, where the entry has none.
func workerUnasked(preset string, p reconcile.ProbePolicy, can reconcile.Capabilities) []reconcile.CheckResult {
	command := mapping.WorkerCommand(preset)
	if command == "" || p.Off || p.Worker != "" || can.NoProbe {
		return nil
	}
	return []reconcile.CheckResult{{What: "probe.worker", OK: true,
		Said: "not given: a worker that dies in a sandbox that answers is only found by its silence",
		Fix:  fmt.Sprintf("for preset %s, where the sandbox has pgrep: worker: %q", preset, command)}}
}

// linkless is the line for an entry whose sandboxes need no link: those that have none are left to
// people, however long nobody explains them.
func linkless(policy reconcile.Policy, entry string) []reconcile.CheckResult {
	if policy.Tasks.None || policy.Providers[entry].LinkRequired {
		return nil
	}
	return []reconcile.CheckResult{
		{What: "link", OK: true, Said: "a sandbox without it is only reported (required: false)"},
	}
}

// lacking are the lines for what the rules ask of the provider and it cannot do. Nothing
// harsher is done instead, so the findings would be held for ever. That is a warning where one of
// the others can: a rule has one remedy for all providers.
func lacking(
	policy reconcile.Policy, can reconcile.Capabilities, others []reconcile.Capabilities,
) []reconcile.CheckResult {
	var out []reconcile.CheckResult
	for _, part := range []struct {
		remedy    reconcile.Remedy
		has       func(reconcile.Capabilities) bool
		said, fix string
	}{
		{reconcile.Quarantine, suspends, "it can neither stop nor pause a sandbox, so what these rules find " +
			"there is held", "set their remedy to terminate or report"},
		{reconcile.Stop, suspends, "it can neither stop nor pause a sandbox, so what these rules find there is held",
			"set their remedy to report"},
		{reconcile.Activate, tells, "it does not say how its templates are, so none is ever activated",
			"set the remedy to report"},
	} {
		if rules := withRemedy(policy, part.remedy); rules != "" && !part.has(can) {
			out = append(out, reconcile.CheckResult{What: string(part.remedy), OK: slices.ContainsFunc(others, part.has),
				Said: part.said + ": " + rules, Fix: part.fix})
		}
	}
	for _, remedy := range []reconcile.Remedy{reconcile.Quarantine, reconcile.Stop} {
		if rules := withRemedy(policy, remedy); rules != "" && suspends(can) && can.StopMayDelete {
			out = append(out, reconcile.CheckResult{What: string(remedy), OK: true,
				Said: "what is ephemeral there is deleted when it stops, so what these rules find of such a one is held: " + rules,
				Fix:  "nothing to do where none is; else set their remedy to " + instead(remedy)})
		}
	}
	if can.Quotas == nil && policy.Rules["capacity"].MakeRoom {
		out = append(out, reconcile.CheckResult{What: "make_room", OK: true,
			Said: "it does not say how much of its quotas is used, so no room is made there",
			Fix:  "nothing to do, if another provider does"})
	}
	return out
}

// instead is what a rule may do that is to stop sandboxes which cannot be stopped.
func instead(remedy reconcile.Remedy) string {
	if remedy == reconcile.Stop {
		return "report"
	}
	return "terminate or report"
}

// tells reports whether a provider says how its templates are.
func tells(can reconcile.Capabilities) bool { return can.Templates != nil }

// suspends reports whether a provider can stop or pause sandboxes so that they come back.
func suspends(can reconcile.Capabilities) bool { return can.Suspender != nil }

// remediesDone is the first version of the schema whose program carries out the remedies
// quarantine and activate. Those before took them in the config and only reported.
const remediesDone = 3

// newlyDone warns, before a ledger of an earlier version is migrated, of enforced rules whose
// remedy was only reported so far: the first pass after the upgrade acts on what they find.
func newlyDone(policy reconcile.Policy, have int) []reconcile.CheckResult {
	var out []reconcile.CheckResult
	for _, remedy := range []reconcile.Remedy{reconcile.Quarantine, reconcile.Activate} {
		rules := enforced(policy, remedy)
		if have == 0 || have >= remediesDone || rules == "" {
			continue
		}
		out = append(out, reconcile.CheckResult{What: string(remedy), OK: true,
			Said: "the version before only reported it, and this one does it from its first pass on: " + rules,
			Fix:  "set these rules to `mode: observe` first, and read `sandkeeper report` before you arm them"})
	}
	return out
}

// enforced names the rules that enforce the remedy.
func enforced(policy reconcile.Policy, remedy reconcile.Remedy) string {
	var names []string
	for _, name := range reconcile.RuleNames {
		if r := policy.Rules[name]; r.Remedy == remedy && r.Mode == reconcile.Enforce {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// withRemedy names the rules that are on and have the remedy.
func withRemedy(policy reconcile.Policy, remedy reconcile.Remedy) string {
	var names []string
	for _, name := range reconcile.RuleNames {
		if r := policy.Rules[name]; r.Remedy == remedy && r.Mode != reconcile.Off {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// expiry says when the provider deactivates a template, or would have.
func expiry(t reconcile.Template) string {
	switch {
	case t.ExpiresAt.IsZero():
		return ""
	case !t.AsOf.Before(t.ExpiresAt):
		return ", was due to be deactivated by the provider at " + text.Time(t.ExpiresAt) + ": make a sandbox from it"
	}
	return ", deactivated by the provider at " + text.Time(t.ExpiresAt) + " unless used"
}

func checkTemplate(ctx context.Context, p reconcile.Templates, name string) reconcile.CheckResult {
	out := reconcile.CheckResult{What: "template " + name}
	t, err := p.Template(ctx, name)
	switch {
	case err != nil:
		out.Said = err.Error()
	case t.State == reconcile.TemplateActive:
		out.OK, out.Said = true, "active"
		out.Said += expiry(t)
	case t.State == reconcile.TemplateUnknown:
		out.OK, out.Said = true, "is there, and nothing more is known of it: "+reconcile.FirstOf(t.Raw, "no state is told")
		out.Fix = "nothing to do, if sandboxes start from it"
	case t.State == reconcile.TemplateMissing:
		out.Said, out.Fix = "is not there", "create it, or correct the name in providers[].templates"
	default:
		out.Said, out.Fix = "is "+reconcile.FirstOf(
			t.Raw,
			string(t.State),
		), "activate it at the provider; no sandbox starts from it"
	}
	return out
}
