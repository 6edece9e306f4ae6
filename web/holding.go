package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// How long foreign texts may be within a sentence of ours, in characters.
const (
	mostHolding = 120 // the words on one hold
	mostHead    = 240 // what is quoted in the verdict
)

// holding says what holds, to stand after "held". What a person asked for is said first: it
// is what the next person has to know.
func holding(by reconcile.HeldBy) string {
	if request, is := by.Of(reconcile.HeldHold, reconcile.HeldPause); is {
		return holdWords(request)
	}
	if len(by) == 0 {
		return ""
	}
	return holdWords(by[0])
}

// holdWords are those of one hold: "by ana: looking into it".
func holdWords(by reconcile.Held) string {
	switch by.Kind {
	case reconcile.HeldObserve:
		return "because the rule only observes"
	case reconcile.HeldOff:
		return "because the rule is off"
	case reconcile.HeldUnproven:
		return "because its rule is not proven on your history"
	case reconcile.HeldHold:
		return asked(by, "by ", "by a hold")
	case reconcile.HeldPause:
		return asked(by, "by a pause of ", "by a pause")
	case reconcile.HeldBreaker:
		return "by the breaker"
	case reconcile.HeldIncident:
		return "by the incident " + plainHold(by.What+by.Reason)
	case reconcile.HeldQuarantine:
		return "because " + plainHold(by.Reason)
	case reconcile.HeldBudget, reconcile.HeldRollout:
		return "by the " + plainHold(by.String())
	case reconcile.HeldFreeze:
		return "while " + sourceWords(by.What) + " " + areOrIs(by.What) + " not trusted"
	}
	if why := holdsBecause[by.Kind]; why != "" {
		return "because " + why
	}
	return "because of this: " + plainHold(by.String())
}

// holdsBecause says in few words, for a headline, what the reason of a hold says of one subject in a sentence of its
// own, so that what is alike is counted together: the reasons differ in an id or a time.
var holdsBecause = map[reconcile.HeldKind]string{
	reconcile.HeldVeto:         "another finding forbids it",
	reconcile.HeldNotExclusive: "others may share the account",
	reconcile.HeldUnparsable:   "the link to a task cannot be relied on",
	reconcile.HeldSilence:      "only silence speaks for it",
	reconcile.HeldRefuted:      "the rule was wrong about this tenant before",
	reconcile.HeldDoubtful:     "the sandbox is not proven ours",
	reconcile.HeldUnmatched:    "it may be the sandbox of a task that has none",
	reconcile.HeldUnknown:      "its state is not known here",
	reconcile.HeldExplained:    "another row explains it",
	reconcile.HeldUnlooked:     "the sandbox was not looked at",
}

func plainHold(words string) string { return text.Plain(words, mostHolding) }

// asked are the words on what an operator asked for, where reason and author may be missing.
func asked(h reconcile.Held, by, nobody string) string {
	words := nobody
	if h.By != "" {
		words = by + plainHold(h.By)
	}
	if h.Reason != "" {
		words += ": " + plainHold(h.Reason)
	}
	return words
}

// heldWords are what holds these findings, after "held", or after "held:" by number when it
// is several things.
func heldWords(of []*reconcile.FindingSeen) (words string, several bool) {
	times := map[string]int{}
	for _, f := range of {
		if f.Due && len(f.HeldBy) > 0 {
			times[holding(f.HeldBy)]++
		}
	}
	all := slices.Collect(maps.Keys(times))
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	if len(all) < 2 {
		return strings.Join(all, ""), false
	}
	var parts []string
	for _, by := range all[:min(len(all), 3)] {
		parts = append(parts, fmt.Sprintf("%d %s", times[by], by))
	}
	if left := len(all) - len(parts); left > 0 {
		parts = append(parts, fmt.Sprintf("and by %s", ui.Count(left, "other thing")))
	}
	return strings.Join(parts, ", "), true
}

// heldSentence is what holds these findings, as a sentence to be begun.
func heldSentence(of []*reconcile.FindingSeen) string {
	words, several := heldWords(of)
	switch {
	case words == "":
		return ""
	case several:
		return ui.Sentence("held: " + words)
	}
	return ui.Sentence("held " + words)
}
