package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func frozen(s *scene) (verdict, bool) {
	out := untrusted(s.Sources)
	if len(out) == 0 {
		return verdict{}, false
	}
	v := verdict{
		Level: warn, Word: "Frozen", Sentence: distrust(&out[0]),
		Next: "What rests on it is held until it is whole again.",
	}
	if len(out) > 1 {
		v.Sentence += fmt.Sprintf(" %s besides %s not trusted.", capital(count(len(out)-1, "source")),
			verb(len(out)-1, "is", "are"))
		v.Next = "What rests on them is held until they are whole again."
	}
	return v, true
}

// untrusted are the sources that hold something. A clock that is not trusted is replaced
// by the ledger's own.
func untrusted(sources []reconcile.SourceSeen) []reconcile.SourceSeen {
	return slices.DeleteFunc(slices.Clone(sources), func(s reconcile.SourceSeen) bool {
		return s.Trusted || strings.HasPrefix(s.Name, "clock:")
	})
}

// distrust says why a source is not trusted. Of a listing it says what happened to it; which
// sandbox gave it away is told below, under Sources.
func distrust(s *reconcile.SourceSeen) string {
	words := capital(sourceWords(s.Name))
	happened, ok := strings.CutPrefix(s.Reason, "the listing ")
	if !ok || !strings.HasPrefix(s.Name, "listing:") {
		return fmt.Sprintf("%s %s not trusted: %s", words, areOrIs(s.Name), sentence(line(s.Reason, mostHead)))
	}
	detail := ""
	if at := strings.IndexAny(happened, ",:"); at >= 0 {
		if happened[at] == ':' {
			detail = " (" + strings.TrimSuffix(line(happened[at+1:], mostHolding), ".") + ")"
		}
		happened = happened[:at]
	}
	return fmt.Sprintf("%s %s%s: nothing is judged from it.", words, line(happened, mostHead), detail)
}

// areOrIs is the verb that goes with the words for a source.
func areOrIs(source string) string {
	kind, _, _ := strings.Cut(source, ":")
	if kind == "events" || kind == "probes" {
		return "are"
	}
	return "is"
}
