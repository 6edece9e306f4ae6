package web

import (
	"cmp"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A sourceLine is the trust in one source.
type sourceLine struct {
	Name    string // as config, metrics and logs have it
	Words   string
	Trusted bool
	Level   level
	Lasts   moment // of the present trust or distrust
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
			Name: text.Plain(src.Name, mostName), Words: sourceWords(src.Name), Trusted: src.Trusted,
			raw: src.Name, Level: well, Lasts: since(src.Since, o.Now), Reason: sentence(text.Plain(src.Reason, mostLine)),
		}
		if !src.Trusted {
			l.Level = warn
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
		return sourceWords(whole) + " of tenant " + text.Plain(tenant, mostName)
	}
	kind, which := reconcile.SourceParts(name)
	which = text.Plain(which, mostName)
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
	return text.Plain(name, mostName)
}

// A templateLine is a template that is not usable, or not for long.
type templateLine struct {
	Key       string
	Provider  string
	Name      string
	Level     level
	State     string
	Error     string
	LastStart moment
	Expires   moment
	Looked    moment
}

// templateLines are the templates that a person should know of, and how many others there
// are. Expiry is of the provider's clock and a matter of days: here alone it is compared
// with the ledger's.
func (s *model) templateLines() (lines []templateLine, others int) {
	ahead := s.policy.Rules["template-unusable"].Ahead
	for _, t := range s.Templates {
		soon := !t.ExpiresAt.IsZero() && t.ExpiresAt.Sub(s.Now) < ahead
		if t.State == reconcile.TemplateActive && !soon {
			others++
			continue
		}
		l := templateLine{
			Key: text.Plain(t.Provider+"/"+t.Name, mostName), Provider: text.Plain(t.Provider,
				mostName), Name: text.Plain(t.Name, mostName),
			Level: warn, State: templateWords(t), Error: text.Plain(t.Error, mostLine),
			LastStart: exactly(t.LastStart), Expires: exactly(t.ExpiresAt), Looked: ago(t.LookedAt, s.Now),
		}
		if t.State == reconcile.TemplateBuilding {
			l.Level = busy
		}
		lines = append(lines, l)
	}
	return lines, others
}

func templateWords(t reconcile.TemplateSeen) string {
	raw := text.Plain(t.Raw, mostName)
	switch {
	case t.State == reconcile.TemplateActive:
		return "active, expires soon"
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
