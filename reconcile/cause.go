package reconcile

import (
	"fmt"
	"regexp"
	"strings"
)

// blamed is what a cause says of the template that it blames: snapshot "light" is inactive.
var blamed = regexp.MustCompile(`(\w+ "[^"]*") is `)

// Blames reports whether the likely cause is that a template cannot be used.
func (in *Incident) Blames(template string) bool {
	return strings.Contains(in.Cause, `"`+template+`" is `)
}

// CauseThen is the likely cause in the past tense, for when it is over.
func (in *Incident) CauseThen() string { return blamed.ReplaceAllString(in.Cause, "$1 was ") }

// CauseSaid is the likely cause, in the past tense where the incident is closed.
func (in *Incident) CauseSaid() string {
	if in.ClosedAt.IsZero() {
		return in.Cause
	}
	return in.CauseThen()
}

// BlamesAs reports whether the cause says that a template is in a state.
func (in *Incident) BlamesAs(template string, state TemplateState) bool {
	return strings.Contains(in.Cause, fmt.Sprintf("%q is %s", template, state))
}
