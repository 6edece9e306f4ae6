package web

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/fleet"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// A Status is the page's first sentence, for those who have no page before them.
type Status struct {
	Agrees   bool   // nothing is wrong, and nothing is being done
	Level    string // bad, warn, set (by an operator), busy or well
	Word     string // "In agreement"
	Sentence string
	Next     string // what to do or to look at; "" for nothing
	Command  string // that does it; "" for none
	Notes    []string
}

// StatusOf is what the page would say of a reading. A reading that failed has none: its error says more.
func StatusOf(r *Reading, p reconcile.Policy) Status {
	s := newScene(&r.Overview, p, nil)
	v := judge(s)
	out := Status{Agrees: v.Level == ui.Well, Level: string(v.Level), Word: v.Word, Sentence: v.Sentence, Next: v.Next,
		Command: v.Command}
	for _, n := range notesOf(s, r.Unready) {
		out.Notes = append(out.Notes, n.Text)
	}
	return out
}

// CauseOf is the likely cause of an incident as the page says it; "" for none.
func CauseOf(o *reconcile.Overview, p reconcile.Policy, in *reconcile.Incident) string {
	return causeWords(fleet.Configured(o, &p), in)
}
