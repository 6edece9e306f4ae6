package web

import "github.com/sandkeeper/sandkeeper/reconcile/text"

// A quarantineView is a sandbox that was stopped or paused and can come back, until its
// time is over.
type quarantineView struct {
	Key     string
	Sandbox string
	Task    string
	Rule    string
	Reason  string
	Author  string
	Since   moment
	Until   moment
	Restore string // the command that brings it back
	Href    string
	Acts    []act
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
			Key: text.Plain(a.ID, mostName), Sandbox: text.Plain(a.Provider+"/"+a.Sandbox, mostName), Task: text.Plain(a.Task,
				mostName),
			Rule: text.Plain(a.Rule, mostName), Reason: sentence(capital(text.Plain(a.Reason, mostLine))),
			Author: text.Plain(a.Author, mostName), Since: ago(a.PlannedAt, s.Now), Until: until(a.NextAttempt, s.Now, ""),
			Restore: command("sandkeeper restore %s", a.Sandbox), Href: sandboxAddress(a.Provider, a.Sandbox),
			Acts: []act{restoreAct(a.Sandbox)},
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
