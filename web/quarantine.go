package web

import "github.com/sandkeeper/sandkeeper/web/ui"

// A quarantineView is a sandbox that was stopped or paused and can come back, until its
// time is over.
type quarantineView struct {
	Key     string
	Sandbox string
	Task    ui.Cell
	Rule    string
	Reason  string
	Author  string
	Since   ui.Moment
	Until   ui.Moment
	Restore string // the command that brings it back
	Href    string
	Acts    []ui.Act
}

// quarantines are the sandboxes in quarantine, and how many there are.
func (s *steps) quarantines() (views []quarantineView, n int) {
	for i := range s.Open {
		a := &s.Open[i]
		if !s.quarantined[a.ID] {
			continue
		}
		if n++; n > mostQuarantines {
			continue
		}
		views = append(views, quarantineView{
			Key: ui.Name(a.ID), Sandbox: ui.Name(a.Provider + "/" + a.Sandbox), Task: ui.TaskCell(a.Task),
			Rule: ui.Name(a.Rule), Reason: ui.Sentence(ui.Capital(ui.Line(a.Reason))),
			Author: ui.Name(a.Author), Since: ui.Ago(a.PlannedAt, s.Now), Until: ui.Until(a.NextAttempt, s.Now, ""),
			Restore: ui.Command("sandkeeper restore %s", a.Sandbox), Href: ui.SandboxAddress(a.Provider, a.Sandbox),
			Acts: []ui.Act{ui.RestoreAct(a.Sandbox)},
		})
	}
	return views, n
}

// mostQuarantines is how many of them the page shows.
const mostQuarantines = 20

// awake is how many open steps are worked at or should be: all but those that wait for the
// end of a quarantine.
func (s *steps) awake() int {
	return max(s.OpenTotal, len(s.Open)) - len(s.quarantined)
}
