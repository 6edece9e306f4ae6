package decide

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// usedAfter looks what became of the sandboxes that clean-up would have ended and that nobody ended: one that is
// used afterwards was not left over. It is asked where rules have to be proven.
func usedAfter(v *view.View, j *Judgement) {
	if v.P.Proof.Off() {
		return
	}
	subjects := make(map[reconcile.Ref]*reconcile.Subject, len(v.S.Memory.Verdicts))
	for i := range v.S.Memory.Verdicts {
		w := &v.S.Memory.Verdicts[i]
		subjects[reconcile.Ref{Provider: w.Provider, ID: w.Sandbox}] = nil
	}
	for i := range j.Decisions {
		for k := range j.Decisions[i].Subject.Boxes {
			if _, judged := subjects[j.Decisions[i].Subject.Boxes[k].Ref]; judged {
				subjects[j.Decisions[i].Subject.Boxes[k].Ref] = j.Decisions[i].Subject
			}
		}
	}
	for i := range v.S.Memory.Verdicts {
		w := &v.S.Memory.Verdicts[i]
		s := subjects[reconcile.Ref{Provider: w.Provider, ID: w.Sandbox}]
		settled := w.Over || verdictActed(w) || !w.FalsePositiveAt.IsZero()
		if s == nil || settled || w.Sandbox == "" || reconcile.Watched(w.Rule) {
			continue
		}
		if what := use(v, w, s); what != "" {
			j.FalsePositives = append(j.FalsePositives, reconcile.FalsePositive{Verdict: w.Number, Rule: w.Rule, At: v.Now,
				What: what})
		}
	}
}

// use says who uses the sandbox of a verdict after all.
func use(v *view.View, w *reconcile.Verdict, s *reconcile.Subject) string {
	b := subjectBoxAt(s, reconcile.Ref{Provider: w.Provider, ID: w.Sandbox})
	since := text.Duration(v.Now.Sub(w.At)) + " after the verdict"
	t := s.Task
	switch {
	case t == nil:
	case t.State.Live() && t.ID != w.Task:
		return fmt.Sprintf("task %s is %s in it, seen %s", text.Clip(t.ID, 60), text.Clip(t.Status, 60), since)
	case t.State.Live() && (w.Rule == "stop-ignored" || w.Rule == "finished-lingering"):
		return fmt.Sprintf("its task is %s again, seen %s", text.Clip(t.Status, 60), since)
	case t.State.Live() && w.Rule == "duplicate" && b.CalledBy(t.Sandbox):
		return "the row of its task names it, seen " + since
	case w.Rule != "stop-ignored" && w.Rule != "duplicate" && workedAfter(w, t):
		return "its task was active " + since
	}
	if w.Rule != "stop-ignored" && activeAfter(v, w, b) {
		return "it was active by its provider's word, seen " + since
	}
	if w.Rule != "stop-ignored" && computesAfter(w, b) {
		return "its processor was at work, measured until " + since
	}
	return ""
}

// computesAfter reports whether two measurements in a row found its processor at work, the last of them after the
// verdict.
func computesAfter(w *reconcile.Verdict, b *reconcile.SeenSandbox) bool {
	all := b.Probes.Measurements
	n := len(all)
	return n >= 2 && all[n-1].At.After(w.At) && all[n-1].Computes() && all[n-2].Computes()
}

// workedAfter reports whether the task's worker did something after the verdict, by no clock that it winds.
func workedAfter(w *reconcile.Verdict, t *reconcile.Task) bool {
	sign := reconcile.Latest(t.Events.Activity, t.ActivityAt)
	return sign.After(w.TaskAt) && !w.TaskAt.IsZero() && sign.Sub(t.AsOf) <= reconcile.Skew
}

// activeAfter reports whether the provider saw activity after the verdict, by its own clock. Where our probes count
// as activity nothing can be told.
func activeAfter(v *view.View, w *reconcile.Verdict, b *reconcile.SeenSandbox) bool {
	if !b.Here || b.LastActivityAt.IsZero() || b.AsOf.IsZero() || v.P.Providers[b.Provider].KeptAwake {
		return false
	}
	ago := b.AsOf.Sub(b.LastActivityAt)
	return ago >= 0 && ago < v.Now.Sub(w.At)-reconcile.ProviderSkew
}
