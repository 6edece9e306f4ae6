package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// checkCanary refuses a canary that could not be made, or that nothing would end.
func (c *Config) checkCanary(r *report) {
	const key = "canary"
	if !r.given(key) || r.unreadable(key) {
		return
	}
	if c.Canary.Template == "" {
		r.fail(key+".template", "is not given", "name the template that canaries are made from, or remove canary")
		return
	}
	check := canaryCheck{c, r}
	check.rule()
	check.place()
	orphan := c.ruled[reconcile.CanaryRule]
	if c.Canary.Within > 0 && c.Canary.Within <= orphan.After {
		r.fail(key+".within", text.Exact(c.Canary.Within)+" is no longer than orphan waits for, "+text.Exact(orphan.After),
			"use more, or leave it out")
	}
}

// A canaryCheck refuses a canary that can be read and that nothing would come of.
type canaryCheck struct {
	*Config
	r *report
}

// rule refuses a canary that its rule would leave there.
func (c canaryCheck) rule() {
	orphan := c.ruled[reconcile.CanaryRule]
	const fix = "give rules: {orphan: {mode: enforce, remedy: terminate}}, or remove canary"
	switch {
	case c.Tasks.None:
		c.r.fail("canary", "is found by the rule orphan, which asks for tasks", "remove canary")
	case orphan.Mode != reconcile.Enforce:
		c.r.fail("canary", "nothing would end it: the rule orphan is in "+string(orphan.Mode), fix)
	case orphan.Remedy != reconcile.Terminate:
		c.r.fail("canary", "nothing would end it: the rule orphan is to "+string(orphan.Remedy), fix)
	case orphan.Rollout > 0 && orphan.Rollout < 100:
		c.r.fail("canary", fmt.Sprintf("only %d %% of what orphan finds is ended", orphan.Rollout),
			"give it the whole rollout, or remove canary")
	}
}

// place refuses a provider where a canary cannot be made, or would not be ours.
func (c canaryCheck) place() {
	const key = "canary.provider"
	names := make([]string, len(c.Providers))
	for i, p := range c.Providers {
		names[i] = p.Name
	}
	if c.Canary.Provider == "" && len(names) == 1 {
		c.Canary.Provider = names[0]
	}
	at := slices.Index(names, c.Canary.Provider)
	switch {
	case c.Canary.Provider == "":
		c.r.fail(key, "is not given, and there are several", "name one of "+strings.Join(names, ", "))
		return
	case at < 0:
		problem, fix := unknownWord("provider", c.Canary.Provider, names)
		c.r.fail(key, problem, fix)
		return
	}
	e := c.Entries()[at]
	name := e.CanaryName("x")
	labels := e.CanaryLabels(name)
	lasts, within := providers.Plants(e.Kind), c.canaryPolicy().Within
	switch {
	case lasts == 0:
		c.r.fail(key, "sandkeeper cannot make a sandbox at a provider of kind "+e.Kind,
			"name an entry of kind "+planting()+", or remove canary")
	case within >= lasts:
		c.r.fail("canary.within", fmt.Sprintf("is %s, and %s ends a canary by itself after %s", text.Exact(within), e.Name,
			text.Exact(lasts)), "use less, or a shorter after for the rule orphan")
	case !e.Owns.Prove(name, labels):
		c.r.fail(key, "nothing would prove that a canary is ours: "+e.Name+" has neither owns.labels nor owns.name_prefix",
			"give one of them, or remove canary")
	case e.Owns.Except.Holds(name, labels, c.Canary.Template) || e.Owns.Spares.Holds(name, labels, c.Canary.Template):
		c.r.fail(key, "owns.except or owns.spares would leave a canary alone", "use another template")
	}
}

// planting names the kinds of providers where a canary can be made.
func planting() string {
	kinds := slices.DeleteFunc(providers.Kinds(), func(kind string) bool { return providers.Plants(kind) == 0 })
	last := len(kinds) - 1
	return strings.Join(kinds[:last], ", ") + " or " + kinds[last]
}

// CanaryName is the name of a canary's sandbox at its provider.
func (c *Config) CanaryName(id string) string {
	for _, e := range c.Entries() {
		if e.Name == c.Canary.Provider {
			return e.CanaryName(id)
		}
	}
	return ""
}

func (c *Config) canaryPolicy() reconcile.CanaryPolicy {
	k := c.Canary
	if k.Template == "" {
		return reconcile.CanaryPolicy{}
	}
	within := k.Within
	if within == 0 {
		within = c.ruled[reconcile.CanaryRule].After + 3*c.Schedule.Full.Gap + 5*time.Minute
	}
	return reconcile.CanaryPolicy{Provider: k.Provider, Template: k.Template, Every: k.Every, Within: within,
		PerDay: k.PerDay}
}
