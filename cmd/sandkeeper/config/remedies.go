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
			if r.unreadable(at) || !slices.Contains(providers.Lacks(e), ability(p.Remedy)) ||
				ability(p.Remedy) == stops && c.Providers[i].Quarantine == "hold" {
				continue
			}
			why, fix := cannot(e.Kind, p.Remedy)
			r.fail(key, fmt.Sprintf("%s cannot be done at the provider %q: %s", p.Remedy, e.Name, why), fix)
		}
	}
}

// stops is the ability to stop or pause a sandbox.
const stops = string(reconcile.Quarantine)

// ability is what a provider has to be able to do for the remedy, as it says what it lacks.
func ability(remedy reconcile.Remedy) string {
	if remedy == reconcile.Stop {
		return stops
	}
	return string(remedy)
}

// canStop reports whether all providers can stop or pause a sandbox.
func canStop(c *Config) bool {
	return !slices.ContainsFunc(c.Entries(), func(e providers.Entry) bool {
		return slices.Contains(providers.Lacks(e), stops)
	})
}

// cannot is why a provider of the kind cannot carry the remedy out, and what to do.
func cannot(kind string, remedy reconcile.Remedy) (why, fix string) {
	switch {
	case ability(remedy) == stops && kind == "generic":
		return "api.stop and api.resume are not described", "describe them, or use terminate or report"
	case ability(remedy) == stops:
		return kind + " can neither stop nor pause a sandbox", "use terminate or report; or say quarantine: hold " +
			"there, so that its findings wait for an operator"
	case kind == "generic":
		return "api.delete is not described", "describe it, or use report"
	case kind == "cloudflare":
		return "the control plane ends nothing", "give worker_url, or use report"
	}
	return kind + " ends nothing", "use report"
}
