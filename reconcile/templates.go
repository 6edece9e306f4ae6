package reconcile

import (
	"context"
	"slices"
	"strings"
	"time"
)

// readTemplates looks at the templates that the config names and that living sandboxes
// came from. One that cannot be measured is left out: it accuses nobody.
func (k *Keeper) readTemplates(ctx context.Context, s *Snapshot) {
	for _, name := range k.Policy.providerNames() {
		p, ok := k.Providers[name].(Templates)
		if !ok {
			continue
		}
		for _, wanted := range wantedTemplates(s, name, k.Policy.Providers[name].Templates) {
			t, err := p.Template(ctx, wanted)
			if err != nil {
				k.Log.WarnContext(ctx, "template not measured", "provider", name, "template", wanted, "err", err)
				continue
			}
			if t.Name == "" {
				t.Name = wanted
			}
			s.Templates = append(s.Templates, t)
			s.TemplateOf = append(s.TemplateOf, name)
		}
	}
}

// recallTemplates shows a quick pass the templates as the last full one left them, so that
// a task that fails between two full passes is told the cause as well.
func (s *Snapshot) recallTemplates() {
	refs := make([]Ref, 0, len(s.Memory.Templates))
	for ref := range s.Memory.Templates {
		refs = append(refs, ref)
	}
	sortRefs(refs)
	for _, ref := range refs {
		seen := s.Memory.Templates[ref]
		s.Templates = append(s.Templates, Template{Name: ref.ID, Raw: seen.Raw, State: seen.State, Error: seen.Error,
			LastUsed: seen.LastUsed, ExpiresAt: seen.ExpiresAt, AsOf: seen.LookedAt})
		s.TemplateOf = append(s.TemplateOf, ref.Provider)
	}
}

// templatesPerPass bounds the look-ups of templates in use.
const templatesPerPass = 20

// recently is how long a template that nothing runs from any more is still looked at.
const recently = 14 * 24 * time.Hour

func wantedTemplates(s *Snapshot, provider string, configured []string) []string {
	names := slices.Clone(configured)
	used := map[string]bool{}
	for _, sb := range s.Sandboxes {
		if sb.Provider == provider && sb.Template != "" && !slices.Contains(configured, sb.Template) {
			used[sb.Template] = true
		}
	}
	for ref, seen := range s.Memory.Templates {
		recent := s.Memory.Now.Sub(seen.LastStart) < recently
		if ref.Provider == provider && recent && !seen.LastStart.IsZero() && !slices.Contains(configured, ref.ID) {
			used[ref.ID] = true
		}
	}
	more := sortedKeys(used)
	return append(names, more[:min(len(more), templatesPerPass)]...)
}

// templateDrafts are the remedies of unusable templates: with the remedy activate an inactive
// one is asked to be made usable again. It destroys nothing, so it is free of share and of
// the breaker. A template that is missing, failed or only about to expire has none: the
// provider activates what is inactive and nothing else.
func (v *view) templateDrafts(j *Judgement) []*draft {
	const rule = "template-unusable"
	p := v.p.Rules[rule]
	if p.Remedy != Activate {
		return nil
	}
	open := v.openActions()
	var drafts []*draft
	for i := range j.Reports {
		f := &j.Reports[i]
		if f.Rule != rule || !f.Due || v.templateState(f.Subject) != TemplateInactive {
			continue
		}
		r := &draft{finding: f, mode: p.Mode, holds: v.templateHolds(f), rowOnly: true}
		r.steps = []Action{{Rule: rule, Subject: f.Subject, Provider: f.Provider, Step: StepActivate,
			Reason: f.Reason, Evidence: f.Evidence}}
		if !v.begun(r, open) {
			drafts = append(drafts, r)
		}
	}
	return drafts
}

func templateSubject(provider, name string) string { return "template:" + provider + "/" + name }

// TemplateOf is the name of the template that a subject is about; "" when it is about none.
func TemplateOf(subject, provider string) string {
	name, ok := strings.CutPrefix(subject, templateSubject(provider, ""))
	if !ok {
		return ""
	}
	return name
}

// templateState is how this pass saw the template of a subject.
func (v *view) templateState(subject string) TemplateState {
	for i := range v.s.Templates {
		if templateSubject(v.s.TemplateOf[i], v.s.Templates[i].Name) == subject {
			return v.s.Templates[i].State
		}
	}
	return TemplateUnknown
}

// templateHolds are all that keeps an inactive template from being activated, before budgets.
func (v *view) templateHolds(f *Finding) []string {
	holds := v.restraints(f)
	c := v.s.Memory.Controls
	c.Modes = nil // already in the policy
	return appendNew(holds, controlHolds(&c, target{rule: f.Rule, subject: f.Subject, provider: f.Provider})...)
}
