package peers

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// A World is one history that all are tried on.
type World struct {
	Name   string
	Script *history.Script
}

// ownSetup and ownEvents are the lines of a script that are about sandkeeper's processes,
// config and operators. A comparison leaves them out: everybody runs once, all day, with the
// defaults, and nobody helps.
var (
	ownSetup  = []string{"process", "rule", "limits", "probe"}
	ownEvents = []string{"config", "operator", "stop", "lease"}
)

// Level is the world with sandkeeper as it comes: one replica of the daemon, the default
// budgets, every rule in enforce that is not off by default. Faults of the world stay, so do
// those of sandkeeper's ledger, which the others do not have; a process that is killed or
// stands still is whoever cleans up. A listing may take more calls than by default for quick passes to list as well:
// pages of two, as some of these worlds have, are there to be turned, and stand for pages of a hundred.
func (w World) Level() *history.Script {
	out := *w.Script
	out.Setup = slices.DeleteFunc(slices.Clone(w.Script.Setup), func(e history.Event) bool {
		return slices.Contains(ownSetup, e.Verb)
	})
	for _, line := range []string{"process replica-1 quick 15s full 2m first 5s small 20",
		"limits per_pass=20 share=10 breaker=30 per_hour=200"} {
		words := strings.Fields(line)
		out.Setup = append(out.Setup, history.Event{Verb: words[0], Args: words[1:]})
	}
	for i, e := range out.Setup {
		if e.Verb == "provider" {
			out.Setup[i].Args = slices.DeleteFunc(slices.Clone(e.Args), func(word string) bool {
				return word == "required=no"
			})
			words := []string{e.Args[0], "worker=" + history.WorkerCommand}
			out.Setup = append(out.Setup, history.Event{Verb: "probe", Args: words})
		}
	}
	out.Events = nil
	for _, e := range w.Script.Events {
		if slices.Contains(ownEvents, e.Verb) {
			continue
		}
		if e.Verb == "crash" || e.Verb == "freeze" {
			e.Args = slices.Clone(e.Args)
			e.Args[0] = "any"
		}
		out.Events = append(out.Events, e)
	}
	return &out
}
