package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Fleet is what runs at the providers, as far as their listings are trusted.
type Fleet struct {
	*reconcile.Overview
	Policy *reconcile.Policy
	Trends *Trend
}

// Grid is a line for each: how far it is trusted, what it has, and when it was listed last.
func (f *Fleet) Grid() ui.Grid {
	g := ui.Grid{Heads: []string{"provider", "trust", "running", "other", "of others", "price", "calls", "last listing"},
		Empty: "No provider was listed yet."}
	for _, name := range f.Names() {
		g.Rows = append(g.Rows, f.providerRow(name))
	}
	return g
}

// Names are those of the config, or, where the page was told none, those of which the ledger knows.
func (f *Fleet) Names() []string {
	names := f.Policy.ProviderNames()
	if len(names) > 0 {
		return slices.DeleteFunc(names, func(n string) bool { return !seenProvider(f.Overview, n) })
	}
	for _, src := range f.Sources {
		if name, ok := reconcile.OfKind(reconcile.SourceListing, src.Name); ok {
			names = append(names, name)
		}
	}
	return names
}

// seenProvider reports whether anything is known of a provider.
func seenProvider(o *reconcile.Overview, name string) bool {
	_, counted := o.Counts[reconcile.Count{What: reconcile.CountOwned, Provider: name}.String()]
	return counted || Source(o, reconcile.ListingOf(name)).Name != ""
}

// Source is the source of a name; the zero one where the ledger knows none.
func Source(o *reconcile.Overview, name string) reconcile.SourceSeen {
	for _, src := range o.Sources {
		if src.Name == name {
			return src
		}
	}
	return reconcile.SourceSeen{}
}

func (f *Fleet) providerRow(name string) ui.Row {
	listing := Source(f.Overview, reconcile.ListingOf(name))
	r := ui.Row{Key: "provider " + ui.Name(name), Cells: []ui.Cell{ui.Named(name).To(ui.Asking("findings", "provider",
		name))}}
	price, calls := priceCell(f.Policy.Providers[name]), f.callsCell(name)
	if listing.Name != "" && !listing.Trusted {
		unknown := ui.Cell{Text: "unknown", Num: true, Sub: trimLast(f.lastWords(name))}
		dash := ui.Cell{Text: "–", Num: true}
		r.Cells = append(r.Cells, ui.Chip(ui.Warn, "not trusted "+ui.Since(listing.Since, f.Now).Text).To("sources"),
			unknown, dash, dash, price, calls,
			ui.Said(ui.Sentence(ui.Capital(ui.Line(listing.Reason.String())))).Below("last trusted "+ui.Ago(listing.LastTrusted,
				f.Now).Text))
		return r
	}
	running, other := sandboxesOf(f.Overview, name)
	foreign := ui.Cell{Text: "–", Num: true, Sub: "not known"}
	if n, counted := f.Counts[reconcile.Count{What: reconcile.CountForeign, Provider: name}.String()]; counted {
		foreign = ui.Number(n)
	}
	r.Cells = append(r.Cells, trustCell(f.Overview, name, listing), ui.Number(running), ui.Number(other),
		foreign, price, calls, listedCell(f.Overview, listing))
	return r
}

// callsCell is whether the rate of a provider has room for a call, over all processes; nothing where nobody called yet.
func (f *Fleet) callsCell(name string) ui.Cell {
	ahead, known := f.CallsAhead[name]
	switch {
	case !known:
		return ui.Cell{Text: "–", Num: true}
	case ahead < time.Second:
		return ui.Cell{Text: "none waits", Sub: "within our rate"}
	}
	return ui.Chip(ui.Warn, text.Duration(ahead.Round(time.Second))+" ahead").Below("rate is used up so far")
}

// priceCell is what a sandbox of the provider costs: from and to where that differs.
func priceCell(p reconcile.ProviderPolicy) ui.Cell {
	c := ui.Cell{Text: "–", Num: true}
	if least, most := p.PriceRange(); least < most {
		c.Text = fmt.Sprintf("$%.2f–%.2f /h", least, most)
	} else if most > 0 {
		c.Text = hourly(most)
	}
	return c
}

// Price is what a sandbox costs, by its template, region and size as its provider said them last.
func Price(p reconcile.ProviderPolicy, b *reconcile.SandboxSeen) ui.Cell {
	usd := p.PriceOf(b.Billed())
	if usd <= 0 {
		return ui.Cell{}
	}
	return ui.Cell{Text: hourly(usd), Num: true}
}

// hourly is what a sandbox costs an hour.
func hourly(usd float64) string { return fmt.Sprintf("$%.2f /h", usd) }

// listedCell is when a trusted listing was made last.
func listedCell(o *reconcile.Overview, listing reconcile.SourceSeen) ui.Cell {
	at := reconcile.Latest(listing.LastTrusted, o.LastFull)
	if at.IsZero() {
		return ui.Cell{Text: "never"}
	}
	c := ui.When(ui.Ago(at, o.Now))
	c.Sub = "complete"
	return c
}

func trimLast(words string) string {
	if words == "" {
		return ""
	}
	return words[len(", "):]
}

// trustCell is how far a provider is trusted besides its listing, which is.
func trustCell(o *reconcile.Overview, name string, listing reconcile.SourceSeen) ui.Cell {
	if probes := Source(o, reconcile.ProbesOf(name)); probes.Name != "" && !probes.Trusted {
		return ui.Chip(ui.Warn, "probes not trusted").To("sources")
	}
	if listing.Name == "" {
		return ui.Chip(ui.Calm, "not listed yet")
	}
	return ui.Chip(ui.Well, "trusted").To("sources")
}

// sandboxesOf are the sandboxes of a provider that run, and those in another state; what has ended is none of them.
func sandboxesOf(o *reconcile.Overview, name string) (running, other int) {
	for key, n := range o.Counts {
		of := reconcile.ParseCount(key)
		switch {
		case of.What != reconcile.CountSandboxes || of.Provider != name || of.State == string(reconcile.SandboxEnded):
		case of.State == string(reconcile.SandboxRunning):
			running += n
		default:
			other += n
		}
	}
	return running, other
}
