package web

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// providers are a line for each: how far it is trusted, what it has, and when it was listed last.
func (s *model) providers() grid {
	g := grid{Heads: []string{"provider", "trust", "running", "other", "of others", "price", "last listing"},
		Empty: "No provider was listed yet."}
	for _, name := range s.providerNames() {
		g.Rows = append(g.Rows, s.providerRow(name))
	}
	return g
}

// providerNames are those of the config, or, where the page was told none, those of which the ledger knows.
func (s *model) providerNames() []string {
	names := s.policy.ProviderNames()
	if len(names) > 0 {
		return slices.DeleteFunc(names, func(n string) bool { return !s.seen(n) })
	}
	for _, src := range s.Sources {
		if name, ok := reconcile.OfKind(reconcile.SourceListing, src.Name); ok {
			names = append(names, name)
		}
	}
	return names
}

// seen reports whether anything is known of a provider.
func (s *model) seen(name string) bool {
	_, counted := s.Counts[reconcile.Count{What: reconcile.CountOwned, Provider: name}.String()]
	return counted || s.source(reconcile.ListingOf(name)).Name != ""
}

func (s *model) source(name string) reconcile.SourceSeen {
	for _, src := range s.Sources {
		if src.Name == name {
			return src
		}
	}
	return reconcile.SourceSeen{}
}

func (s *model) providerRow(name string) row {
	listing := s.source(reconcile.ListingOf(name))
	r := row{Key: "provider " + text.Plain(name, mostName), Cells: []cell{named(name).to(asking("findings", "provider",
		name))}}
	price := priceCell(s.policy.Providers[name])
	if listing.Name != "" && !listing.Trusted {
		unknown := cell{Text: "unknown", Num: true, Sub: trimLast(s.lastWords(name))}
		dash := cell{Text: "–", Num: true}
		r.Cells = append(r.Cells, chip(warn, "not trusted "+since(listing.Since, s.Now).Text).to("sources"), unknown, dash,
			dash, price,
			said(sentence(capital(text.Plain(listing.Reason, mostLine)))).below("last trusted "+ago(listing.LastTrusted,
				s.Now).Text))
		return r
	}
	running, other := s.sandboxesOf(name)
	foreign := s.Counts[reconcile.Count{What: reconcile.CountForeign, Provider: name}.String()]
	r.Cells = append(r.Cells, s.trust(name, listing), number(running), number(other), number(foreign), price,
		s.listed(listing))
	return r
}

// priceCell is what a sandbox of the provider costs: from and to where that differs.
func priceCell(p reconcile.ProviderPolicy) cell {
	c := cell{Text: "–", Num: true}
	if least, most := p.PriceRange(); least < most {
		c.Text = fmt.Sprintf("$%.2f–%.2f /h", least, most)
	} else if most > 0 {
		c.Text = hourly(most)
	}
	return c
}

// priceOf is what a sandbox of the template costs: from and to where its region or its size matter, which the ledger does
// not keep.
func priceOf(p reconcile.ProviderPolicy, template string) cell {
	usd, known := p.PriceOfTemplate(template)
	switch {
	case !known:
		return priceCell(p)
	case usd > 0:
		return cell{Text: hourly(usd), Num: true}
	}
	return cell{}
}

// hourly is what a sandbox costs an hour.
func hourly(usd float64) string { return fmt.Sprintf("$%.2f /h", usd) }

// listed is when a trusted listing was made last.
func (s *model) listed(listing reconcile.SourceSeen) cell {
	at := latest(listing.LastTrusted, s.LastFull)
	if at.IsZero() {
		return cell{Text: "never"}
	}
	c := when(ago(at, s.Now))
	c.Sub = "complete"
	return c
}

func trimLast(words string) string {
	if words == "" {
		return ""
	}
	return words[len(", "):]
}

// trust is how far a provider is trusted besides its listing, which is.
func (s *model) trust(name string, listing reconcile.SourceSeen) cell {
	if probes := s.source(reconcile.ProbesOf(name)); probes.Name != "" && !probes.Trusted {
		return chip(warn, "probes not trusted").to("sources")
	}
	if listing.Name == "" {
		return chip(calm, "not listed yet")
	}
	return chip(well, "trusted").to("sources")
}

// sandboxesOf are the sandboxes of a provider that run, and those in another state.
func (s *model) sandboxesOf(name string) (running, other int) {
	for key, n := range s.Counts {
		of := reconcile.ParseCount(key)
		switch {
		case of.What != reconcile.CountSandboxes || of.Provider != name:
		case of.State == string(reconcile.SandboxRunning):
			running += n
		default:
			other += n
		}
	}
	return running, other
}
