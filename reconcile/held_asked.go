package reconcile

import (
	"slices"
	"strings"
)

// heldTargets are the kinds whose text goes on with what a person may ask for: a target, a rule, an incident, a limit.
var heldTargets = []HeldKind{HeldPause, HeldHold, HeldVeto, HeldBreaker, HeldBudget, HeldIncident, HeldRollout}

// FreezeSources are the kinds of sources whose freeze a text may name.
var FreezeSources = []string{SourceTasks, SourceLink, SourceEvents, SourceActivity, SourceListing, SourceProbes,
	SourceClock, SourceCredential}

// HeldKinds are the kinds of what holds, as a person may ask for them, in order.
func HeldKinds() []string {
	kinds := []string{string(HeldFreeze)}
	for _, kind := range heldFirst {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// HeldBegins is how the texts begin that a person means by a word: a kind (budget), a source (listing:daytona), what is
// named (rule:orphan, an incident) or the text itself. A text is meant that is one of them, or has a blank behind one.
func HeldBegins(word string) []string {
	if word == "" {
		return nil
	}
	out := []string{word, word + ":", word + ","}
	for first, kind := range heldFirst {
		if string(kind) == word {
			out = append(out, first)
		}
	}
	for _, source := range FreezeSources {
		if kind, _ := SourceParts(word); word == string(HeldFreeze) || kind == source {
			name := FreezeName(source)
			if word != string(HeldFreeze) {
				name = FreezeName(word)
			}
			out = append(out, name, name+":")
		}
	}
	for _, kind := range heldTargets {
		for _, end := range []string{"", ":", ",", ";"} {
			out = append(out, heldPrefix[kind]+word+end)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Meant reports whether a person means it by a word; the ledger asks the same of the texts that it keeps.
func (h Held) Meant(word string) bool {
	said := h.String()
	return slices.ContainsFunc(HeldBegins(word), func(begin string) bool {
		return said == begin || strings.HasPrefix(said, begin+" ")
	})
}
