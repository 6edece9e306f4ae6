package run

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// timelineOf is the news of a pass, one line a subject: what changed in the world, and what
// was found again.
func timelineOf(v *view.View, r *Result, tasks []reconcile.TaskSeen,
	boxes []reconcile.SandboxSeen) []reconcile.TimelineEvent {
	var out []reconcile.TimelineEvent
	add := func(subject, kind, what string) {
		out = append(out, reconcile.TimelineEvent{At: v.Now, Subject: subject, Kind: kind, What: what})
	}
	for _, t := range tasks {
		if before, known := v.S.Memory.Tasks.Get(t.ID); known && before.Status != t.Status {
			add(reconcile.TaskSubject(t.ID), "state", before.Status+" → "+t.Status)
		}
	}
	for _, b := range boxes {
		before, known := v.S.Memory.Sandboxes.Get(b.Ref)
		switch {
		case known && before.GoneAt.IsZero() && !b.GoneAt.IsZero():
			add(reconcile.BoxSubject(b.Ref), "state", before.Raw+" → gone")
		case known && before.State != b.State:
			add(reconcile.BoxSubject(b.Ref), "state", before.Raw+" → "+b.Raw)
		}
	}
	for _, f := range r.Plan.Findings {
		if _, open := v.S.Memory.Findings[f.Key()]; !open {
			add(f.Subject, "finding", f.Rule+": "+f.Reason)
		}
	}
	for _, key := range r.Judged.Resolved {
		add(key.Subject, "resolved", key.Rule)
	}
	for i := range v.S.Memory.Actions {
		if a := &v.S.Memory.Actions[i]; r.Plan.Reused[a.ID] != "" {
			add(a.Subject, "action", fmt.Sprintf("%s %s/%s: %s: %s", a.Step, a.Provider, a.Sandbox, reconcile.OutcomeWithdrawn,
				r.Plan.Reused[a.ID]))
		}
	}
	incidentNews(v, r.Judged, add)
	for _, s := range r.Sources {
		before, known := v.S.Memory.Sources[s.Name]
		if known && before.Trusted != s.Trusted || !known && !s.Trusted {
			add(reconcile.SubjectOf(reconcile.SubjectSource, s.Name), "source", decide.TrustWords(s))
		}
	}
	return out
}

// incidentNews are the timeline's lines of what opened and closed, and of what came back to
// life.
func incidentNews(v *view.View, j *decide.Judgement, add func(subject, kind, what string)) {
	for i := range j.Incidents {
		in := &j.Incidents[i]
		switch {
		case !in.ClosedAt.IsZero():
			add(reconcile.SubjectOf(reconcile.SubjectIncident, in.ID), "incident",
				fmt.Sprintf("closed after %d failures", in.Count))
		case in.OpenedAt.Equal(v.Now):
			add(reconcile.SubjectOf(reconcile.SubjectIncident, in.ID), "incident", "opened: "+in.Said(v.Now, v.Templates()))
		}
	}
	for i := range j.FalsePositives {
		for k := range v.S.Memory.Verdicts {
			if w := &v.S.Memory.Verdicts[k]; w.Number == j.FalsePositives[i].Verdict {
				add(w.Subject, "regret", w.Rule+": "+j.FalsePositives[i].What)
			}
		}
	}
}
