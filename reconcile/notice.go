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
