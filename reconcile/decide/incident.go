package decide

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// fewestForIncident is the least number of failures that have something in common.
const fewestForIncident = 2

// incidents are those that are open, with what this pass adds to them, those that it closes,
// and those that it opens: so many failures of work with one signature on different subjects
// within the window.
func incidents(v *view.View, j *Judgement) []reconcile.Incident {
	open := v.S.Memory.Controls.Incidents
	p := v.P.Rules["systemic"]
	if p.Mode == reconcile.Off || p.Mode == "" {
		return closed(v, open)
	}
	fresh := map[string][]*reconcile.Verdict{}
	for i := range j.Verdicts {
		if w := &j.Verdicts[i]; w.Signature != "" {
			fresh[w.Signature] = append(fresh[w.Signature], w)
		}
	}
	if len(open)+len(fresh) == 0 {
		return nil
	}
	var out []reconcile.Incident
	for i := range open {
		out = append(out, afterPass(v, open[i], fresh[open[i].Signature], j))
		delete(fresh, open[i].Signature)
	}
	for _, signature := range reconcile.SortedKeys(fresh) {
		failures := distinct(append(recent(v, signature, p.Window), fresh[signature]...))
		if different(failures) >= max(p.Count, fewestForIncident) {
			out = append(out, opened(v, failures, j))
		}
	}
	return out
}

// closed closes all: nobody wants incidents any more.
func closed(v *view.View, open []reconcile.Incident) []reconcile.Incident {
	out := slices.Clone(open)
	for i := range out {
		out[i].ClosedAt = v.Now
	}
	return out
}

// recent are the remembered verdicts with a signature that are not older than the window,
// oldest first.
func recent(v *view.View, signature string, window time.Duration) []*reconcile.Verdict {
	var out []*reconcile.Verdict
	for i := range v.S.Memory.Verdicts {
		w := &v.S.Memory.Verdicts[i]
		if w.Signature == signature && v.Now.Sub(w.At) <= window {
			out = append(out, w)
		}
	}
	return out
}

// distinct are the failures, each once: one that was observed first and acted on later is one.
func distinct(failures []*reconcile.Verdict) []*reconcile.Verdict {
	type failure struct {
		subject string
		attempt uint64
	}
	at := map[failure]int{}
	var out []*reconcile.Verdict
	for _, w := range failures {
		key := failure{w.Subject, w.Attempt}
		if i, again := at[key]; again {
			out[i] = w
			continue
		}
		at[key] = len(out)
		out = append(out, w)
	}
	return out
}

// different counts the subjects.
func different(failures []*reconcile.Verdict) int {
	subjects := map[string]bool{}
	for _, w := range failures {
		subjects[w.Subject] = true
	}
	return len(subjects)
}

func opened(v *view.View, failures []*reconcile.Verdict, j *Judgement) reconcile.Incident {
	first := failures[0]
	in := reconcile.Incident{
		ID:        incidentID(v.P.Installation, first.Signature, v.Now),
		Signature: first.Signature, Rule: first.Rule, Provider: first.Provider, Template: first.Template,
		Error: first.Error, OpenedAt: v.Now, FirstSeen: first.At,
	}
	incidentAdd(&in, failures)
	in.Cause, in.Evidence = common(v, failures, j)
	return in
}

// incidentID is short enough to be spoken, and the same for the same incident.
func incidentID(installation, signature string, at time.Time) string {
	id := strconv.FormatUint(reconcile.Sum(installation+"\x00"+signature+"\x00"+strconv.FormatInt(at.UnixNano(), 10)), 36)
	return "i-" + padLeft(id, 5)
}

// padLeft is the last n letters of a text, with zeros before one that is shorter.
func padLeft(text string, n int) string {
	for len(text) < n {
		text = "0" + text
	}
	return text[len(text)-n:]
}

func incidentAdd(in *reconcile.Incident, failures []*reconcile.Verdict) {
	for _, w := range failures {
		in.Count++
		in.Cost += w.Cost
		in.LastSeen = reconcile.Latest(in.LastSeen, w.At)
	}
}

// afterPass is an open incident after this pass: with its new failures, or closed.
func afterPass(v *view.View, in reconcile.Incident, fresh []*reconcile.Verdict, j *Judgement) reconcile.Incident {
	known := distinct(recent(v, in.Signature, v.Now.Sub(in.FirstSeen)))
	failures := distinct(append(slices.Clone(known), fresh...))
	fresh = failures[len(known):]
	incidentAdd(&in, fresh)
	if len(fresh) == 0 && overNow(v, &in, j) {
		in.ClosedAt = v.Now
		return in
	}
	if in.Cause != "" || len(failures) == 0 {
		return in // a cause that was fixed since must not be told as "is building"
	}
	in.Cause, in.Evidence = common(v, failures, j)
	return in
}

// overNow reports whether an incident is over: no new failure came for a whole window, and
// none of its findings is open but those that it holds itself. Only a full pass on a task
// table that is trusted can tell.
func overNow(v *view.View, in *reconcile.Incident, j *Judgement) bool {
	window := v.P.Rules["systemic"].Window
	if v.S.Kind != reconcile.Full || !v.Trusted(reconcile.SourceTasks) || v.Now.Sub(in.LastSeen) < window {
		return false
	}
	seen := map[reconcile.FindingKey]bool{}
	for i := range j.Decisions {
		d := &j.Decisions[i]
		for k := range d.Findings {
			f := &d.Findings[k]
			if f.Rule == in.Rule && signature(v, d.Subject, f) == in.Signature && !j.waitsFor(in, f) {
				return false
			}
			seen[f.Key()] = true
		}
	}
	for key, f := range v.S.Memory.Findings {
		if key.Rule == in.Rule && !seen[key] && !couldSee(v, f, j) {
			return false
		}
	}
	return true
}

// waitsFor reports whether the incident alone holds the finding: it would wait for itself.
func (j *Judgement) waitsFor(in *reconcile.Incident, f *reconcile.Finding) bool {
	return slices.ContainsFunc(j.drafts, func(r *draft) bool {
		return r.finding == f && r.signature == in.Signature && len(r.holds) == 0 && !r.steps[0].Step.OnRow()
	})
}

// incidentFindings show the open incidents.
func incidentFindings(v *view.View, all []reconcile.Incident) []reconcile.Finding {
	var out []reconcile.Finding
	for i := range all {
		in := &all[i]
		if !in.ClosedAt.IsZero() {
			continue
		}
		subject, said := reconcile.SubjectOf(reconcile.SubjectIncident, in.ID), in.Said(v.Now, v.Templates())
		f := report(v, "systemic", subject, said, reconcile.Evidence{Source: "ledger", At: v.Now,
			Fact: fmt.Sprintf("%d failures by %s from %s to %s", in.Count, in.Rule, text.Time(in.FirstSeen),
				text.Time(in.LastSeen))})
		f.Evidence = append(f.Evidence, in.Evidence...)
		f.Provider, f.Incident = in.Provider, in.ID
		out = append(out, f)
	}
	return out
}
