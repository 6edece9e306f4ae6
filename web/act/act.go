// Package act holds the forms by which people ask for something: what will happen, what was recorded, the log-in.
// Who may ask, and what becomes of it, is package serve's.
package act

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// A Confirmation is what somebody is about to ask for: it names what will happen, before it is asked for.
type Confirmation struct {
	Verb    api.Verb
	Up      string // the way from the page up to the first one
	Act     api.Act
	Preview api.Preview
	Shown   bool   // the preview is there
	Barred  string // why who looks may not; "" when he may
	Login   bool   // he has to log in first
	LoginAt string // where he does, and comes back from
	Problem string // why it was not recorded
}

// A Login is the form that begins a session.
type Login struct {
	User    string
	Says    string // as whom he is here, and who may act
	Barred  string
	In      bool   // he is in already
	To      string // where he goes on
	Problem string
}

// Confirm is the page of a confirmation.
func Confirm(c *Confirmation) templ.Component { return confirm(c) }

// Performed is the page of what was recorded. Up is the way from it up to the first one.
func Performed(up string, v api.Verb, done api.Done) templ.Component {
	said := strings.Split(strings.TrimSpace(done.Said), "\n")
	return performed(up, v, said, clippedActions(done.Actions), len(done.Actions))
}

func clippedActions(all []api.Action) []api.Action { return all[:min(len(all), mostNamed)] }

// about is what a recorded action is about.
func about(a *api.Action) ui.Cell {
	if a.Sandbox == "" {
		return ui.TaskCell(a.Task)
	}
	return ui.SandboxCell(a.Provider, a.Sandbox)
}

// link is an address of the page as a link from this one: relative, so that it works below a path too.
func (c *Confirmation) link(address string) string { return c.Up + strings.TrimPrefix(address, "/") }

// LogIn is the page of the form that begins a session.
func LogIn(l Login) templ.Component { return logIn(l) }

// mostNamed is how many subjects a confirmation names; the count and the hash are of all.
const mostNamed = 200

// concerned are the subjects as lines that say nothing of them.
func (c *Confirmation) concerned() []api.PreviewLine {
	lines := make([]api.PreviewLine, 0, len(c.Preview.Subjects))
	for _, subject := range c.Preview.Subjects {
		lines = append(lines, api.PreviewLine{Subject: subject})
	}
	return lines
}

// lasts says what the time of the request is where none is given; "" when it takes none, as the release of an incident,
// which lasts until that closes.
func (c *Confirmation) lasts() string {
	if _, incident := reconcile.OfType(reconcile.SubjectIncident, c.Act.Target); incident {
		return ""
	}
	return c.Verb.Lasts
}

// may reports whether the form can be sent.
func (c *Confirmation) may() bool {
	return c.Barred == "" && !c.Login && (!c.Verb.Lists || c.Shown && c.Preview.Count > 0)
}

// button is what the button says.
func (c *Confirmation) button() string {
	if c.Verb.Lists && c.Shown {
		return fmt.Sprintf("%s (%d)", c.Verb.Means, c.Preview.Count)
	}
	return c.Verb.Means
}
