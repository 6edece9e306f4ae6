package web

import "github.com/sandkeeper/sandkeeper/reconcile"

// membership says which findings belong to which incident. The incident's own finding, of
// the rule systemic, is the incident itself.
type membership struct {
	members map[string][]*reconcile.FindingSeen // by the incident's id
	folded  map[*reconcile.FindingSeen]bool     // those that are not listed by themselves
}

// membersOf reads it from what the pass wrote: from the finding itself, from what holds it, and from the
// signature of what is being done about it.
func membersOf(o *reconcile.Overview) membership {
	m := membership{members: map[string][]*reconcile.FindingSeen{}, folded: map[*reconcile.FindingSeen]bool{}}
	known, signs := map[string]bool{}, map[string]string{}
	for i := range o.Incidents {
		if one := &o.Incidents[i]; one.ClosedAt.IsZero() {
			known[one.ID], signs[one.Signature] = true, one.ID
		}
	}
	subjects := subjectsBy(o, signs)
	for i := range o.Findings {
		f := &o.Findings[i]
		id, own := reconcile.OfType(reconcile.SubjectIncident, f.Subject)
		if !own {
			id = incidentOf(f, subjects)
		}
		if !known[id] {
			continue
		}
		m.folded[f] = true
		if !own {
			m.members[id] = append(m.members[id], f)
		}
	}
	return m
}

// subjectsBy are the incidents whose signature an action on a subject has.
func subjectsBy(o *reconcile.Overview, signs map[string]string) map[string]string {
	subjects := map[string]string{}
	for _, list := range [][]reconcile.Action{o.Recent, o.Open} { // what is open has the last word
		for i := range list {
			a := &list[i]
			if id := signs[a.Signature]; id != "" && a.Signature != "" {
				subjects[a.Rule+" "+a.Subject] = id
			}
		}
	}
	return subjects
}

func incidentOf(f *reconcile.FindingSeen, subjects map[string]string) string {
	if f.Incident != "" {
		return f.Incident
	}
	if by, held := f.HeldBy.Of(reconcile.HeldIncident); held {
		return by.What
	}
	return subjects[f.Rule+" "+f.Subject]
}
