package decide

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// templatesPerPass bounds the look-ups of templates in use.
const templatesPerPass = 20

// recently is how long a template that nothing runs from any more is still looked at.
const recently = 14 * 24 * time.Hour

// WantedTemplates are the templates of a provider to look at: those configured and those in recent use.
func WantedTemplates(s *reconcile.Snapshot, provider string, configured []string) []string {
	names := slices.Clone(configured)
	used := map[string]bool{}
	for _, sb := range s.Sandboxes {
		if sb.Provider == provider && sb.Template != "" && !slices.Contains(configured, sb.Template) {
			used[sb.Template] = true
		}
	}
	if at := s.Plain.At[provider]; at != nil {
		for name := range at.Templates {
			if !slices.Contains(configured, name) {
				used[name] = true
			}
		}
	}
	for ref, seen := range s.Memory.Templates {
		recent := s.Memory.Now.Sub(seen.LastStart) < recently
		if ref.Provider == provider && recent && !seen.LastStart.IsZero() && !slices.Contains(configured, ref.ID) {
			used[ref.ID] = true
		}
	}
	more := reconcile.SortedKeys(used)
	return append(names, more[:min(len(more), templatesPerPass)]...)
}

// templateDrafts are the remedies of unusable templates: with the remedy activate an inactive
// one is asked to be made usable again. It destroys nothing, so it is free of share and of
// the breaker. A template that is missing, failed or only about to expire has none: the
// provider activates what is inactive and nothing else.
func templateDrafts(v *view.View, j *Judgement) []*draft {
	const rule = "template-unusable"
	p := v.P.Rules[rule]
	if p.Remedy != reconcile.Activate {
		return nil
	}
	open := openActions(v)
	var drafts []*draft
	for i := range j.Reports {
		f := &j.Reports[i]
		if f.Rule != rule || !f.Due || templateState(v, f.Subject) != reconcile.TemplateInactive {
			continue
		}
		r := &draft{finding: f, mode: p.Mode, holds: templateHolds(v, f), rowOnly: true}
		r.steps = []reconcile.Action{{Rule: rule, Subject: f.Subject, Provider: f.Provider, Step: reconcile.StepActivate,
			Reason: f.Reason, Evidence: f.Evidence}}
		if !alreadyBegun(v, r, open) {
			drafts = append(drafts, r)
		}
	}
	return drafts
}

// templateState is how this pass saw the template of a subject.
func templateState(v *view.View, subject string) reconcile.TemplateState {
	for i := range v.S.Templates {
		if t := &v.S.Templates[i]; reconcile.TemplateSubject(t.Provider, t.Name) == subject {
			return t.State
		}
	}
	return reconcile.TemplateUnknown
}

// templateHolds are all that keeps an inactive template from being activated, before budgets.
func templateHolds(v *view.View, f *reconcile.Finding) reconcile.HeldBy {
	holds := restraints(v, f, nil)
	c := v.S.Memory.Controls
	c.Modes = nil // already in the policy
	return holds.With(reconcile.ControlHolds(&c, reconcile.ControlTarget{Rule: f.Rule, Subject: f.Subject,
		Provider: f.Provider})...)
}
