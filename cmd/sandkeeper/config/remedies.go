package config

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// checkRemedies refuses a remedy that somebody chose and that a provider cannot carry out: nothing
// harsher is ever done in its place, so that what the rule finds there would be held for ever.
// A remedy that nobody chose is no promise: one who only watches leaves it out.
func (c *Config) checkRemedies(r *report) {
	entries := c.Entries()
	for i := range reconcile.Rules {
		spec := &reconcile.Rules[i]
		key, p := "rules."+spec.Name+".remedy", c.ruled[spec.Name]
		if p.Mode == reconcile.Off || !r.given(key) || r.bad[key] || !slices.Contains(spec.Remedies, p.Remedy) {
			continue
		}
		for i, e := range entries {
			at := fmt.Sprintf("providers[%d]", i)
			if r.unreadable(at) || !slices.Contains(providers.Lacks(e), string(p.Remedy)) ||
				p.Remedy == reconcile.Quarantine && c.Providers[i].Quarantine == "hold" {
				continue
			}
			why, fix := cannot(e.Kind, p.Remedy)
			r.fail(key, fmt.Sprintf("%s cannot be done at the provider %q: %s", p.Remedy, e.Name, why), fix)
		}
	}
}

// cannot is why a provider of the kind cannot carry the remedy out, and what to do.
func cannot(kind string, remedy reconcile.Remedy) (why, fix string) {
	switch {
	case remedy == reconcile.Quarantine && kind == "generic":
		return "api.stop and api.resume are not described", "describe them, or use terminate or report"
	case remedy == reconcile.Quarantine:
		return kind + " can neither stop nor pause a sandbox", "use terminate or report; or say quarantine: hold " +
			"there, so that its findings wait for an operator"
	case kind == "generic":
		return "api.delete is not described", "describe it, or use report"
	case kind == "cloudflare":
		return "the control plane ends nothing", "give worker_url, or use report"
	}
	return kind + " ends nothing", "use report"
}
