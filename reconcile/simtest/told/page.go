package told

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/web"
)

// suspectsAreNotHealthy is the count of healthy subjects: what is an open finding, that this pass did not settle, is
// none of them.
func suspectsAreNotHealthy(r *run.Result) string {
	settled, suspects := map[reconcile.FindingKey]bool{}, map[string]string{}
	for _, key := range r.Judged.Resolved {
		settled[key] = true
	}
	for key := range r.Judged.View.S.Memory.Findings {
		if !settled[key] {
			suspects[key.Subject] = key.Rule
		}
	}
	healthy, known := r.Judged.Plain(), ""
	for i := range r.Judged.Decisions {
		switch d := &r.Judged.Decisions[i]; {
		case len(d.Findings) > 0 || d.Unlooked:
		case suspects[d.Subject.ID] != "":
			known = d.Subject.ID + " is an open finding of " + suspects[d.Subject.ID]
		default:
			healthy++
		}
	}
	if r.Plan.Kept > healthy {
		return fmt.Sprintf("%d subjects are said to be healthy, and %d are: %s", r.Plan.Kept, healthy, known)
	}
	return ""
}

// agrees is "in agreement", said while something is wrong and known: found in the very pass, not trusted, begun and
// not done, or accepted and still there.
func agrees(s *web.Status, o *reconcile.Overview, p *reconcile.Policy, r *run.Result) string {
	if !s.Agrees {
		return ""
	}
	says := func(what string, args ...any) string {
		return fmt.Sprintf("the page says %q, and ", s.Word) + fmt.Sprintf(what, args...)
	}
	waits, rests := reconcile.QuarantinedActions(o.Open, o.Now), map[string]bool{}
	for i := range o.Open {
		a := &o.Open[i]
		if !waits[a.ID] {
			return says("%s of %s is %s", a.Step, a.Subject, a.Outcome)
		}
		rests[a.Subject] = true
	}
	for _, source := range o.Sources {
		if !source.Trusted && !reconcile.IsClock(source.Name) && p.Has(source.Name) {
			return says("%s is not trusted: %s", source.Name, source.Reason)
		}
	}
	for i := range o.Findings {
		if f := &o.Findings[i]; f.Due && !rests[f.Subject] || s.Word == agreement {
			return says("%s of %s is open: %s", f.Rule, f.Subject, f.Reason)
		}
	}
	for i := range o.Incidents {
		if o.Incidents[i].ClosedAt.IsZero() {
			return says("incident %s is open", o.Incidents[i].ID)
		}
	}
	if !newest(o, r) {
		return ""
	}
	for i := range r.Plan.Findings {
		if f := &r.Plan.Findings[i]; f.Due && !rests[f.Subject] || s.Word == agreement {
			return says("this pass found %s of %s: %s", f.Rule, f.Subject, f.Reason)
		}
	}
	return counted(o, r, says)
}

const agreement = "In agreement"

// newest reports whether the pass was recorded, and no other since.
func newest(o *reconcile.Overview, r *run.Result) bool {
	return len(o.Passes) > 0 && r.Pass > 0 && o.Passes[0].ID == r.Pass && r.Complete
}

// counted is how many live tasks agree: as many as were decided on.
func counted(o *reconcile.Overview, r *run.Result, says func(string, ...any) string) string {
	live, told := r.Judged.Plain(), 0
	for i := range r.Judged.Decisions {
		if s := r.Judged.Decisions[i].Subject; s.Task != nil && s.LinkState == reconcile.LinkLive {
			live++
		}
	}
	for key, n := range o.Counts {
		if reconcile.ParseCount(key).What == reconcile.CountTasks {
			told += n
		}
	}
	if live != told {
		return says("counts %d live tasks, of which %d were decided on", told, live)
	}
	return ""
}

// causes are what incidents are said to come from: what is over, or is something else by now, was.
func causes(o *reconcile.Overview, p *reconcile.Policy) string {
	for i := range o.Incidents {
		in := &o.Incidents[i]
		words := web.CauseOf(o, *p, in)
		for _, t := range o.Templates {
			now := fmt.Sprintf("%q is ", t.Name)
			if t.Provider != in.Provider || !strings.Contains(words, now) {
				continue
			}
			if still := strings.Contains(words, now+string(t.State)); !still || !in.ClosedAt.IsZero() {
				return fmt.Sprintf("incident %s is said to come from: %s; template %s is %s", in.ID, words, t.Name, t.State)
			}
		}
	}
	return ""
}
