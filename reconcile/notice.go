package reconcile

import (
	"context"
	"time"
)

// A Notice tells the platform what was done to one of its tasks, so that it can requeue or
// recreate at once. It is written with the settlement of the action and delivered at least
// once.
type Notice struct {
	Action   string // id; the receiver knows a repeated notice by it
	Task     string
	Provider string
	Sandbox  string
	Rule     string
	Step     Step
	Outcome  Outcome
	Reason   string
	At       time.Time // ledger's clock, of the settlement
	Attempts int       // tried so often before
}

// Notices are what is still to be told, kept in the ledger.
type Notices interface {
	// TakeNotices takes up to most notices that are due and puts their next attempt off, with
	// pauses that double, so that a crash and a second process repeat none at once.
	TakeNotices(ctx context.Context, most int) ([]Notice, error)
	// NoticeTold closes one that was delivered.
	NoticeTold(ctx context.Context, action string) error
	// NoticeFailed writes down why it could not be delivered; given up after 3 days.
	NoticeFailed(ctx context.Context, action, why string) error
}

// A Notifier delivers notices.
type Notifier interface {
	Notify(ctx context.Context, n Notice) error
}

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
