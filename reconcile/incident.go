package reconcile

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// fewestForIncident is the least number of failures that have something in common.
const fewestForIncident = 2

// incidents are those that are open, with what this pass adds to them, those that it closes,
// and those that it opens: so many failures of work with one signature on different subjects
// within the window.
func (v *view) incidents(j *Judgement) []Incident {
	open := v.s.Memory.Controls.Incidents
	p := v.p.Rules["systemic"]
	if p.Mode == Off || p.Mode == "" {
		return v.closed(open)
	}
	fresh := map[string][]*Verdict{}
	for i := range j.Verdicts {
		if w := &j.Verdicts[i]; w.Signature != "" {
			fresh[w.Signature] = append(fresh[w.Signature], w)
		}
	}
	if len(open)+len(fresh) == 0 {
		return nil
	}
	var out []Incident
	for i := range open {
		out = append(out, v.goesOn(open[i], fresh[open[i].Signature], j))
		delete(fresh, open[i].Signature)
	}
	for _, signature := range sortedKeys(fresh) {
		failures := distinct(append(v.recent(signature, p.Window), fresh[signature]...))
		if different(failures) >= max(p.Count, fewestForIncident) {
			out = append(out, v.opened(failures, j))
		}
	}
	return out
}

// closed closes all: nobody wants incidents any more.
func (v *view) closed(open []Incident) []Incident {
	out := slices.Clone(open)
	for i := range out {
		out[i].ClosedAt = v.now
	}
	return out
}

// recent are the remembered verdicts with a signature that are not older than the window,
// oldest first.
func (v *view) recent(signature string, window time.Duration) []*Verdict {
	var out []*Verdict
	for i := range v.s.Memory.Verdicts {
		w := &v.s.Memory.Verdicts[i]
		if w.Signature == signature && v.now.Sub(w.At) <= window {
			out = append(out, w)
		}
	}
	return out
}

// distinct are the failures, each once: one that was observed first and acted on later is one.
func distinct(failures []*Verdict) []*Verdict {
	type failure struct {
		subject string
		attempt uint64
	}
	at := map[failure]int{}
	var out []*Verdict
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
func different(failures []*Verdict) int {
	subjects := map[string]bool{}
	for _, w := range failures {
		subjects[w.Subject] = true
	}
	return len(subjects)
}

func (v *view) opened(failures []*Verdict, j *Judgement) Incident {
	first := failures[0]
	in := Incident{
		ID:        incidentID(v.p.Installation, first.Signature, v.now),
		Signature: first.Signature, Rule: first.Rule, Provider: first.Provider, Template: first.Template,
		Error: first.Error, OpenedAt: v.now, FirstSeen: first.At,
	}
	in.add(failures)
	in.Cause, in.Evidence = v.common(failures, j)
	return in
}

// incidentID is short enough to be spoken, and the same for the same incident.
func incidentID(installation, signature string, at time.Time) string {
	id := strconv.FormatUint(sum(installation+"\x00"+signature+"\x00"+strconv.FormatInt(at.UnixNano(), 10)), 36)
	return "i-" + padLeft(id, 5)
}

// padLeft is the last n letters of a text, with zeros before one that is shorter.
func padLeft(text string, n int) string {
	for len(text) < n {
		text = "0" + text
	}
	return text[len(text)-n:]
}

func (in *Incident) add(failures []*Verdict) {
	for _, w := range failures {
		in.Count++
		in.Cost += w.Cost
		in.LastSeen = latest(in.LastSeen, w.At)
	}
}

// goesOn is an open incident after this pass: with its new failures, or closed.
func (v *view) goesOn(in Incident, fresh []*Verdict, j *Judgement) Incident {
	known := distinct(v.recent(in.Signature, v.now.Sub(in.FirstSeen)))
	failures := distinct(append(slices.Clone(known), fresh...))
	fresh = failures[len(known):]
	in.add(fresh)
	if len(fresh) == 0 && v.overNow(&in, j) {
		in.ClosedAt = v.now
		return in
	}
	if in.Cause != "" || len(failures) == 0 {
		return in // a cause that was mended since must not be told as "is building"
	}
	in.Cause, in.Evidence = v.common(failures, j)
	return in
}

// overNow reports whether an incident is over: no new failure came for a whole window, and
// none of its findings is open but those that it holds itself. Only a full pass on a task
// table that is trusted can tell.
func (v *view) overNow(in *Incident, j *Judgement) bool {
	window := v.p.Rules["systemic"].Window
	if v.s.Kind != Full || !v.trusted(sourceTasks) || v.now.Sub(in.LastSeen) < window {
		return false
	}
	seen := map[FindingKey]bool{}
	judged := make(map[string]bool, len(j.Decisions))
	for i := range j.Decisions {
		d := &j.Decisions[i]
		judged[d.Subject.ID] = !d.Look
		for k := range d.Findings {
			f := &d.Findings[k]
			if f.Rule == in.Rule && v.signature(d.Subject, f) == in.Signature && !j.waitsFor(in, f) {
				return false
			}
			seen[f.Key()] = true
		}
	}
	for key, f := range v.s.Memory.Findings {
		if key.Rule == in.Rule && !seen[key] && !v.couldSee(f, judged) {
			return false
		}
	}
	return true
}

// waitsFor reports whether the incident alone holds the finding: it would wait for itself.
func (j *Judgement) waitsFor(in *Incident, f *Finding) bool {
	return slices.ContainsFunc(j.drafts, func(r *draft) bool {
		return r.finding == f && r.signature == in.Signature && len(r.holds) == 0 && !r.steps[0].Step.onRow()
	})
}

// incidentFindings show the open incidents.
func (v *view) incidentFindings(all []Incident) []Finding {
	var out []Finding
	for i := range all {
		in := &all[i]
		if !in.ClosedAt.IsZero() {
			continue
		}
		f := v.report("systemic", "incident:"+in.ID, in.String(), Evidence{
			Source: "ledger", At: v.now, Fact: fmt.Sprintf("%d failures by %s from %s to %s",
				in.Count, in.Rule, text.Time(in.FirstSeen), text.Time(in.LastSeen))})
		f.Evidence = append(f.Evidence, in.Evidence...)
		f.Provider, f.Incident = in.Provider, in.ID
		out = append(out, f)
	}
	return out
}

// String is the incident as one line: what failed how often, and why.
func (in *Incident) String() string {
	at := ""
	if in.Provider != "" {
		at = " at " + in.Provider
	}
	why := firstOf(in.Cause, "no cause stands out")
	if in.Cause == "" && in.Error != "" {
		why += ", the error is: " + in.Error
	}
	text := fmt.Sprintf("%d failures by %s%s since %s: %s", in.Count, in.Rule, at, text.Time(in.FirstSeen), why)
	if !in.ReleasedAt.IsZero() {
		text += "; released by " + in.ReleasedBy.Author
	}
	return text
}
