package platform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// A verb is one kind of event. Where it is about a thing, that is its first word and what
// happens to it the second.
type verb struct {
	thing bool              // the first word names a thing
	subs  map[string]string // what may happen, with the keys that it has; "" for any word
	do    func(*Platform, *args)
}

// verbs are those of the platform. It is filled by init, because what they do knows the table.
var verbs map[string]verb

const taskKeys = "age pick assign start boot work beat act row keep limit timeout deadline retry again max attempts " +
	"template provider crash end record outside sandbox firm note name bind"

const providerKeys = "exclusive link lasting owns start delete stop lag activate cpu idle page required rests record " +
	"stores ends"

func init() {
	verbs = map[string]verb{
		"kind": {subs: map[string]string{"": ""}, do: func(t *Platform, a *args) { t.kind = kinds[a.word(0)] }},
		"provider": {thing: true, subs: map[string]string{"": providerKeys},
			do: func(t *Platform, a *args) { t.addCloud(a.word(0), a) }},
		"rule":   {thing: true, subs: map[string]string{"": ruleKeys}, do: reconfigure("rule")},
		"limits": {subs: map[string]string{"": limitKeys}, do: reconfigure("limits")},
		"probe":  {thing: true, subs: map[string]string{"": probeKeys}, do: reconfigure("probe")},
		"proof": {subs: map[string]string{"": "samples"}, do: func(t *Platform, a *args) {
			t.policy.Proof = reconcile.ProofPolicy{FalsePositives: 0.02, Samples: a.num("samples", 200)}
		}},
		"task": {thing: true, do: func(t *Platform, a *args) { t.maker().taskEvent(a) }, subs: map[string]string{
			"new": taskKeys, "running": taskKeys, "completed": taskKeys, "failed": taskKeys, "stopped": taskKeys,
			"assigned": taskKeys, "unmapped": taskKeys}},
		"worker": {thing: true, do: func(t *Platform, a *args) { t.orchestrator().workerEvent(a) }, subs: map[string]string{
			"die": "", "hang": "", "wake": "", "wait": "", "silent": "", "slow": "act", "ahead": "by", "finish": "", "lose": "",
			"never": "", "rest": "", "command": ""}},
		"user": {thing: true, do: func(t *Platform, a *args) { t.users().userEvent(a) }, subs: map[string]string{
			"continue": "work", "stop": "", "delete": "", "keep": "", "answer": "", "retry": "", "touch": ""}},
		"sandbox": {thing: true, do: func(t *Platform, a *args) { t.fleet().sandboxEvent(a) }, subs: map[string]string{
			"break": "", "mend": "", "die": "", "stop": "", "fail": "", "pause": "", "resume": "", "stuck": "", "refuse": "",
			"hollow": "", "queue": "", "unlabel": "", "relabel": "", "reuse": "", "spin": "", "hang": "", "odd": "",
			"vanish": "", "renew": "", "disown": "", "adopt": ""}},
		"tenants": {subs: map[string]string{"": "alone"}, do: tenantsEvent},
		"evil": {thing: true, do: func(t *Platform, a *args) { t.mishaps().evilEvent(a) }, subs: map[string]string{
			"beats": "", "ahead": "", "finished": "", "older": "", "name": "", "take": "", "vanish": "",
			"label": "", "nul": "", "beat-for": "", "finish-for": "", "plant": ""}},
		"orchestrator": {do: func(t *Platform, a *args) { t.orchestrator().orchestratorEvent(a) }, subs: map[string]string{
			"down": "", "up": ""}},
		"events": {do: func(t *Platform, a *args) { t.mishaps().eventsEvent(a) }, subs: map[string]string{
			"down": "part", "late": "by", "up": ""}},
		"template": {thing: true, do: func(t *Platform, a *args) { t.fleet().templateEvent(a) }, subs: map[string]string{
			"active": "", "inactive": "", "missing": "", "failed": "", "expiring": ""}},
		"platform": {do: func(t *Platform, a *args) { t.mishaps().platformEvent(a) }, subs: map[string]string{
			"backup": "", "restore": "", "empty": "", "back": "", "standby": "lag", "primary": "", "foreign": "provider age",
			"twins": "provider age", "leak": "provider age template cpu", "specs": "provider age",
			"batch": taskKeys, "massacre": "kept",
			"labels": "provider", "touch": ""}},
	}
}

// Verbs are the verbs that are the Platform's.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

// Check refuses an event of the Platform's verbs that is not well formed.
func Check(e history.Event) error {
	v, known := verbs[e.Verb]
	if !known {
		return fmt.Errorf("no verb %q; there are: %s", e.Verb, strings.Join(Verbs(), ", "))
	}
	return v.check(argsOf(e.Args))
}

func (v verb) check(a *args) error {
	sub, at := "", 0
	if v.thing {
		at = 1
		if a.word(0) == "" {
			return fmt.Errorf("what it is about is missing")
		}
	}
	sub = a.word(at)
	keys, known := v.subs[sub]
	if !known {
		keys, known = v.subs[""]
	}
	if !known {
		return fmt.Errorf("no %q here; there are: %s", sub, strings.Join(slices.Sorted(maps.Keys(v.subs)), ", "))
	}
	return a.check(keys)
}
