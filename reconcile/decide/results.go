package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// What a rule says of a subject, see [RuleAnswer].
const (
	SaysDue     = "due"     // found, past every threshold
	SaysFound   = "found"   // found, and not due yet
	SaysKept    = "kept"    // suspected, and judged healthy
	SaysHealthy = "healthy" // nothing to find
	SaysOff     = "off"     // not judged: the rule is off, or a pass of this kind does not judge it
)

// A RuleAnswer is what one rule says of one subject, also of a healthy one.
type RuleAnswer struct {
	Rule string
	Mode reconcile.Mode // in force
	Says string         // one of the Says constants
	Why  string         // with the numbers that decided it
}

// fleetAnswers has what each row that is about the whole fleet has to do with one subject.
var fleetAnswers = map[string]func(*view.View, *Judgement, *Decision) (says, why string){
	"template-unusable": templateAnswer,
	"systemic":          systemicAnswer,
	"capacity":          capacityAnswer,
}

// Results are what every rule says of a subject that was decided on, in the order of the
// design. The rules are run once more and tell why, so that a pass does not pay for the words.
func (j *Judgement) Results(d *Decision) []RuleAnswer {
	v := *j.View
	v.Telling = true
	out := make([]RuleAnswer, 0, len(reconcile.RuleNames))
	for _, name := range reconcile.RuleNames {
		a := RuleAnswer{Rule: name, Mode: v.P.Rules[name].Mode}
		find := rules.Finds[name]
		switch {
		case !v.Judges(name):
			a.Says, a.Why = SaysOff, "the rule is off"
		case find == nil:
			a.Says, a.Why = fleetAnswers[name](&v, j, d)
		case reconcile.RuleNamed(name).FullOnly && !v.SightedAgain(name, d.Subject):
			a.Says, a.Why = SaysOff, fullWords(&v, name, d.Subject.ID)
		default:
			a.Says, a.Why = answerOf(&v, name, d)
		}
		out = append(out, a)
	}
	return out
}

// answerOf is what a rule of the table says of the subject.
func answerOf(v *view.View, rule string, d *Decision) (says, why string) {
	if kept, _ := v.Quarantined(d.Subject); kept != "" {
		return SaysKept, kept
	}
	out := rules.Finds[rule](v, d.Subject)
	switch {
	case out.Found:
		i := slices.IndexFunc(d.Findings, func(f reconcile.Finding) bool { return f.Rule == rule })
		if i < 0 {
			return SaysFound, out.Reason
		}
		return foundWords(v, &d.Findings[i], out.Sightings)
	case out.Suspect != "":
		return SaysKept, reconcile.Joined(out.Suspect, out.Wants())
	}
	return SaysHealthy, reconcile.FirstOf(out.Healthy, "nothing of the kind was seen")
}

func foundWords(v *view.View, f *reconcile.Finding, sightings int) (says, why string) {
	why = f.Reason
	if sightings > 0 {
		why = reconcile.Joined(why, fmt.Sprintf("sighted %d of %d times since %s", f.Sightings, sightings,
			text.Time(f.FirstSeen)))
	}
	if len(f.HeldBy) > 0 {
		why = reconcile.Joined(why, "held by "+strings.Join(f.HeldBy.Texts(), ", "))
	}
	if !f.Due {
		return SaysFound, why
	}
	return SaysDue, why
}

// fullWords are the answer of a rule that only full passes judge.
func fullWords(v *view.View, rule, subject string) string {
	const only = "only full passes judge it: it rests on a whole listing"
	if f, open := v.S.Memory.Findings[reconcile.FindingKey{Rule: rule, Subject: subject}]; open {
		return only + "; the last one found: " + f.Reason
	}
	return only
}

func capacityAnswer(_ *view.View, j *Judgement, _ *Decision) (says, why string) {
	var found []string
	for i := range j.Reports {
		if j.Reports[i].Rule == "capacity" {
			found = append(found, j.Reports[i].Reason)
		}
	}
	const whole = "it judges the whole fleet and not one subject"
	if len(found) > 0 {
		return SaysHealthy, whole + ", which it finds so: " + strings.Join(found, "; ")
	}
	return SaysHealthy, whole
}

func templateAnswer(v *view.View, _ *Judgement, d *Decision) (says, why string) {
	s := d.Subject
	if cause, _ := v.Cause(s); cause != "" {
		return SaysDue, cause
	}
	own := s.Template()
	for _, t := range v.S.Templates {
		if own != "" && (own == t.Name || own == t.ID) && v.MayUse(s, t.Provider) {
			return SaysHealthy, fmt.Sprintf("its %s %q at %s is %s",
				view.ProviderPolicyTemplateNoun(v.P.Providers[t.Provider]),
				own, t.Provider, reconcile.FirstOf(t.Raw, "not measured"))
		}
	}
	if own == "" {
		return SaysHealthy, "which template it is from is not known, and none that it may use is known to be unusable"
	}
	return SaysHealthy, fmt.Sprintf("its template %q was not measured", own)
}

func systemicAnswer(v *view.View, _ *Judgement, d *Decision) (says, why string) {
	p := v.P.Rules["systemic"]
	for i := range d.Findings {
		if by, is := d.Findings[i].HeldBy.Of(reconcile.HeldIncident); is {
			return SaysFound, "its failure is one of an incident: " + by.String()
		}
	}
	return SaysHealthy, fmt.Sprintf("%d failures with one signature within %s make an incident; none of this subject is "+
		"part of one", p.Count, text.Duration(p.Window))
}
