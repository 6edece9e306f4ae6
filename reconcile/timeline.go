package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// timeline is the news of a pass, one line a subject: what changed in the world, and what
// was found anew.
func (v *view) timeline(r *Result, tasks []TaskSeen, boxes []SandboxSeen) []TimelineEvent {
	var out []TimelineEvent
	add := func(subject, kind, what string) {
		out = append(out, TimelineEvent{At: v.now, Subject: subject, Kind: kind, What: what})
	}
	for _, t := range tasks {
		if before, known := v.s.Memory.Tasks[t.ID]; known && before.Status != t.Status {
			add("task:"+t.ID, "state", before.Status+" → "+t.Status)
		}
	}
	for _, b := range boxes {
		before, known := v.s.Memory.Sandboxes[b.Ref]
		switch {
		case known && before.GoneAt.IsZero() && !b.GoneAt.IsZero():
			add("sandbox:"+b.Ref.String(), "state", before.Raw+" → gone")
		case known && before.State != b.State:
			add("sandbox:"+b.Ref.String(), "state", before.Raw+" → "+b.Raw)
		}
	}
	for _, f := range r.Plan.Findings {
		if _, open := v.s.Memory.Findings[f.Key()]; !open {
			add(f.Subject, "finding", f.Rule+": "+f.Reason)
		}
	}
	for _, key := range r.Judged.Resolved {
		add(key.Subject, "resolved", key.Rule)
	}
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; r.Plan.Awakened[a.ID] != "" {
			add(a.Subject, "action", fmt.Sprintf("%s %s/%s: %s: %s", a.Step, a.Provider, a.Sandbox, OutcomeWithdrawn,
				r.Plan.Awakened[a.ID]))
		}
	}
	v.incidentEvents(r.Judged, add)
	for _, s := range r.Sources {
		before, known := v.s.Memory.Sources[s.Name]
		if known && before.Trusted != s.Trusted || !known && !s.Trusted {
			add("source:"+s.Name, "source", trustWords(s))
		}
	}
	return out
}

func trustWords(s SourceSeen) string {
	if s.Trusted {
		return "trusted again"
	}
	return "not trusted: " + s.Reason
}

// seenTemplates are the templates looked at in this pass, with the newest sandbox that was
// seen running from each.
func (v *view) seenTemplates(subs []Decision) []TemplateSeen {
	if v.s.Kind != Full {
		return nil // a quick pass looks at none
	}
	started := map[Ref]time.Time{}
	for i := range subs {
		for _, b := range subs[i].Subject.Boxes {
			if ref := (Ref{b.Provider, b.Template}); b.Here && b.State == SandboxRunning && b.Template != "" {
				started[ref] = latest(started[ref], b.CreatedAt)
			}
		}
	}
	var out []TemplateSeen
	for i, t := range v.s.Templates {
		ref := Ref{v.s.TemplateOf[i], t.Name}
		before := v.s.Memory.Templates[ref]
		out = append(out, TemplateSeen{
			Provider: ref.Provider, Name: t.Name, State: t.State, Raw: t.Raw, Error: t.Error,
			LastStart: latest(
				before.LastStart,
				started[ref],
			), LastUsed: t.LastUsed, ExpiresAt: t.ExpiresAt, LookedAt: v.now,
		})
	}
	slices.SortFunc(out, func(a, b TemplateSeen) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// String is the finding as one line for logs and terminals.
func (f Finding) String() string { return fmt.Sprintf("%s %s: %s", f.Rule, f.Subject, f.Reason) }
