package fleet

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Fact is one figure with its name.
type Fact struct {
	Name  string
	Value string
	Sub   string
	Class string // of its line in the chart
}

// Facts are the figures beside the chart of tasks and sandboxes.
func (f *Fleet) Facts() []Fact {
	var facts []Fact
	if n, ok := Live(f.Counts); ok {
		facts = append(facts, Fact{Name: "Live tasks", Value: fmt.Sprint(n), Sub: taskWords(f.Counts), Class: "tasks"})
	}
	return append(facts, f.sandboxes()...)
}

// sandboxes are of the listings that are trusted: another would show fewer sandboxes than there are, so the last
// trusted number stands beside them.
func (f *Fleet) sandboxes() []Fact {
	var facts []Fact
	n, listed := Owned(f.Counts)
	words, value := sandboxWords(f.Counts), fmt.Sprint(n)
	if !listed {
		value = ""
	}
	for _, provider := range Unlisted(f.Sources) {
		name := ui.Name(provider)
		value = strings.TrimPrefix(value+" + "+name+" unknown"+f.lastWords(provider), " + ")
		words = append(words, name+": its listing is not trusted")
	}
	if len(words) > 0 {
		facts = append(facts, Fact{Name: "Sandboxes", Value: value, Class: "boxes",
			Sub: ui.Line(strings.Join(words, "; "))})
	}
	if others, _ := sum(f.Counts, reconcile.CountForeign); others > 0 {
		facts = append(facts, Fact{Name: "Sandboxes of others", Value: fmt.Sprint(others), Sub: "never touched"})
	}
	return facts
}

// lastWords are how many sandboxes a provider had when its listing was trusted last.
func (f *Fleet) lastWords(provider string) string {
	counts := f.lastCounts(provider)
	if n, ok := counts[reconcile.Count{What: reconcile.CountOwned, Provider: provider}.String()]; ok {
		return fmt.Sprintf(", last %d", n)
	}
	return ""
}

// lastCounts are those of the newest full pass of which the provider's listing was trusted; nil when it is not known.
func (f *Fleet) lastCounts(provider string) map[string]int {
	var trusted time.Time
	for _, src := range f.Sources {
		if src.Name == reconcile.ListingOf(provider) {
			trusted = src.LastTrusted
		}
	}
	key := reconcile.Count{What: reconcile.CountOwned, Provider: provider}.String()
	for _, p := range f.Passes {
		if _, counted := p.Counts[key]; counted && !trusted.IsZero() && !p.BeganAt.After(trusted) {
			return p.Counts
		}
	}
	return f.Trends.before(trusted, key)
}
