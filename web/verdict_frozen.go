package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func frozen(s *model) (verdict, bool) {
	out := untrusted(s.Sources)
	if len(out) == 0 {
		return verdict{}, false
	}
	v := verdict{
		Level: ui.Warn, Word: "Frozen", Sentence: distrust(&out[0]),
		Next: "What depends on it waits until it is trusted again.",
	}
	if len(out) > 1 {
		v.Sentence += fmt.Sprintf(" %s besides %s not trusted.", ui.Capital(ui.Count(len(out)-1, "source")),
			ui.Verb(len(out)-1, "is", "are"))
		v.Next = "What depends on them waits until they are trusted again."
	}
	if out[0].Unread() {
		v.Next += " Make sure that the provider is up, then run:"
		v.Command = "sandkeeper check"
	}
	return v, true
}

// byReach are the kinds of sources, those first on which most verdicts rest.
var byReach = []string{"tasks", "listing", "link", "events", "probes"}

// reach is a source's place among them; one of another kind comes last.
func reach(name string) int {
	kind, _ := reconcile.SourceParts(name)
	if i := slices.Index(byReach, kind); i >= 0 {
		return i
	}
	return len(byReach)
}

// untrusted are the sources that hold something, those first on which most rests. A clock that
// is not trusted is replaced by the ledger's own.
func untrusted(sources []reconcile.SourceSeen) []reconcile.SourceSeen {
	out := slices.DeleteFunc(slices.Clone(sources), func(s reconcile.SourceSeen) bool {
		return s.Trusted || reconcile.IsClock(s.Name)
	})
	slices.SortStableFunc(out, func(a, b reconcile.SourceSeen) int { return cmp.Compare(reach(a.Name), reach(b.Name)) })
	return out
}

// distrust says why a source is not trusted. Of a listing it says what happened to it; which
// sandbox gave it away is told below, under Sources.
func distrust(s *reconcile.SourceSeen) string {
	words := ui.Capital(sourceWords(s.Name))
	happened, cause, ok := s.Happened()
	if !ok {
		why := strings.TrimSuffix(": "+text.Plain(s.Reason.String(), mostHead), ": ")
		return ui.Sentence(fmt.Sprintf("%s %s not trusted%s", words, areOrIs(s.Name), why))
	}
	_, at := reconcile.SourceParts(s.Name)
	provider := ui.Name(at)
	if s.Unlisted() {
		return fmt.Sprintf("Cannot list the sandboxes of %s: %s Its findings are frozen.", provider,
			ui.Sentence(text.Plain(cause, mostHolding)))
	}
	detail := ""
	if cause != "" {
		detail = " (" + strings.TrimSuffix(text.Plain(cause, mostHolding), ".") + ")"
	}
	return fmt.Sprintf("%s %s%s. Findings of %s are frozen.", words, text.Plain(happened, mostHead), detail, provider)
}

// areOrIs is the verb that goes with the words for a source.
func areOrIs(source string) string {
	kind, _ := reconcile.SourceParts(source)
	if kind == reconcile.SourceEvents || kind == reconcile.SourceProbes {
		return "are"
	}
	return "is"
}
