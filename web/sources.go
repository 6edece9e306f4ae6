package web

import (
	"cmp"
	"slices"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A sourceLine is the trust in one source.
type sourceLine struct {
	Name    string // as config, metrics and logs have it
	Words   string
	Trusted bool
	Level   ui.Level
	Lasts   ui.Moment // of the present trust or distrust
	Reason  string

	raw string // its name as the ledger has it
}

// sourceLines are the sources, those that are not trusted first.
func sourceLines(o *reconcile.Overview) []sourceLine {
	sorted := slices.DeleteFunc(slices.Clone(o.Sources), func(src reconcile.SourceSeen) bool {
		_, tenant := reconcile.SourceTenant(src.Name)
		return tenant != "" && src.Trusted // the whole says it
	})
	slices.SortStableFunc(sorted, func(a, b reconcile.SourceSeen) int {
		return cmp.Compare(truth(a.Trusted), truth(b.Trusted))
	})
	lines := make([]sourceLine, 0, len(sorted))
	for _, src := range sorted {
		l := sourceLine{
			Name: ui.Name(src.Name), Words: sourceWords(src.Name), Trusted: src.Trusted,
			raw: src.Name, Level: ui.Well, Lasts: ui.Since(src.Since, o.Now), Reason: ui.Sentence(ui.Line(src.Reason.String())),
		}
		if !src.Trusted {
			l.Level = ui.Warn
		}
		lines = append(lines, l)
	}
	return lines
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sourceWords name a source for people.
func sourceWords(name string) string {
	if whole, tenant := reconcile.SourceTenant(name); tenant != "" {
		return sourceWords(whole) + " of tenant " + ui.Name(tenant)
	}
	kind, which := reconcile.SourceParts(name)
	which = ui.Name(which)
	switch kind {
	case "tasks":
		return "the task table"
	case "events":
		return "the workers' events"
	case "activity":
		return "the workers' activity"
	case "link":
		return "the link between tasks and sandboxes"
	case "listing":
		return "the listing of " + which
	case "probes":
		return "the probes at " + which
	case "credential":
		return "the credential of " + which
	case "clock":
		if of, is := reconcile.ClockProvider(name); is {
			return "the clock of " + of
		}
		return "the clock " + which
	}
	return ui.Name(name)
}

// A templateLine is a template that is not usable, or not for long.
type templateLine struct {
	Key       string
	Provider  string
	Name      string
	Href      string // what was made from it
	Level     ui.Level
	State     string
	Error     string
	LastStart ui.Moment
	Expires   ui.Moment
	Looked    ui.Moment
}

// templateLines are the templates that a person should know of, and how many others there
// are. Expiry is of the provider's clock and a matter of days: here alone it is compared
// with the ledger's.
func (s *model) templateLines() (lines []templateLine, others int) {
	for _, t := range s.Templates {
		soon := s.expiresSoon(t)
		if t.State == reconcile.TemplateActive && !soon {
			others++
			continue
		}
		l := templateLine{
			Key: ui.Name(t.Provider + "/" + t.Name), Provider: ui.Name(t.Provider), Name: ui.Name(t.Name),
			Level: ui.Warn, State: templateWords(t, soon), Error: ui.Line(t.Error),
			Href:      ui.TemplateCell(t.Provider, t.Name).Href,
			LastStart: ui.Exactly(t.LastStart), Expires: ui.Exactly(t.ExpiresAt), Looked: ui.Ago(t.LookedAt, s.Now),
		}
		switch {
		case t.State == reconcile.TemplateBuilding:
			l.Level = ui.Busy
		case t.State.Unusable():
			l.Level = ui.Bad // nothing can start from it
		}
		lines = append(lines, l)
	}
	return lines, others
}

// expiresSoon reports whether a template will soon be unusable unless somebody starts something from it.
func (s *model) expiresSoon(t reconcile.TemplateSeen) bool {
	return !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(s.Now) < s.policy.Rules["template-unusable"].Ahead
}

func templateWords(t reconcile.TemplateSeen, soon bool) string {
	raw := ui.Name(t.Raw)
	switch {
	case t.State == reconcile.TemplateActive && soon:
		return "active, expires soon"
	case t.State == reconcile.TemplateActive:
		return "active"
	case t.State == reconcile.TemplateUnknown && raw == "":
		return "could not be looked at"
	case t.State == reconcile.TemplateUnknown:
		return "unknown (" + raw + ")"
	case raw == "" || raw == string(t.State):
		return string(t.State)
	}
	return string(t.State) + " (" + raw + ")"
}

func trustedOnes(all []sourceLine) int {
	n := 0
	for _, s := range all {
		n += truth(s.Trusted)
	}
	return n
}
