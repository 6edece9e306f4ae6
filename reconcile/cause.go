package reconcile

import (
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
