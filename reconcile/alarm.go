package reconcile

import "time"

// An Alarm is something that is wrong and that people are to be told of.
type Alarm struct {
	Key      string // names it among all that is wrong: "incident:i-3k9f2"
	Kind     string // "incident", "breaker", "freeze", …
	Severity Severity
	Title    string // what is wrong, in one line
	Text     string // the cause, and what to do
	Since    time.Time
	Version  string // what has to differ for it to be told again; "" once it is over
}

// Over reports whether it is wrong no more.
func (a *Alarm) Over() bool { return a.Version == "" }

// A Severity says who has to do something, and when.
type Severity string

// The severities.
const (
	SeverityInfo     Severity = "info"     // good to know
	SeverityWarning  Severity = "warning"  // to be looked at today
	SeverityCritical Severity = "critical" // an operator must do something now
)

// severities are in the order of their weight.
var severities = map[Severity]int{SeverityInfo: 1, SeverityWarning: 2, SeverityCritical: 3}

// AtLeast reports whether it weighs as much as another one. One that is not known weighs nothing.
func (s Severity) AtLeast(other Severity) bool { return severities[s] >= severities[other] }
