package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mostHolding is how long the words on one hold may be.
const mostHolding = 120

// holding says what holds, to stand after "held". What a person asked for is said first: it
// is what the next person has to know.
func holding(by []string) string {
	for _, h := range by {
		if strings.HasPrefix(h, "hold: ") || strings.HasPrefix(h, "pause: ") {
			return holdWords(h)
		}
	}
	if len(by) == 0 {
		return ""
	}
	return holdWords(by[0])
}

// holdWords are those of one hold: "by ana: looking into it".
func holdWords(by string) string {
	by = text.Plain(by, mostHolding)
	kind, rest, _ := strings.Cut(by, ": ")
	switch kind {
	case "observe":
		return "because the rule only observes"
	case "off":
		return "because the rule is off"
	case "hold":
		return asked(rest, "by ", "by a hold")
	case "pause":
		return asked(rest, "by a pause of ", "by a pause")
	case "breaker":
		return "by the breaker"
	case "incident":
		return "by the incident " + rest
	case "quarantine":
		return "because " + rest
	case "budget", "rollout":
		return "by the " + by
	}
	first, rest, _ := strings.Cut(by, " ")
	if source, ok := strings.CutSuffix(first, "-untrusted"); ok {
		name := source + ":" + rest
		return "while " + sourceWords(name) + " " + areOrIs(name) + " not trusted"
	}
	return "because of this: " + by
}

// asked are the words on what an operator asked for. They come as "TARGET (REASON) by
// AUTHOR", where reason and author may be missing.
func asked(text, by, nobody string) string {
	text, author, _ := cutLast(text, " by ")
	_, reason, _ := strings.Cut(text, " (")
	words := nobody
	if author != "" {
		words = by + author
	}
	if reason = strings.TrimSuffix(reason, ")"); reason != "" {
		words += ": " + reason
	}
	return words
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
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
		parts = append(parts, fmt.Sprintf("and by %s", count(left, "other thing")))
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
		return sentence("held: " + words)
	}
	return sentence("held " + words)
}
