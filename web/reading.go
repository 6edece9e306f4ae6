package web

import "github.com/sandkeeper/sandkeeper/reconcile"

// A Reading is what the ledger said, or why it said nothing.
type Reading struct {
	Number   int64 // each reading that is shown has another one; 0 for one of a test's own
	Overview reconcile.Overview
	Trends   *reconcile.Trends   // nil when they could not be read
	Err      error               // the ledger could not be read: the rest is empty
	Past     *reconcile.Overview // what it said last, while it cannot be read; nil for nothing
	Unready  error               // database or schema are not as they must be
}

// A Process is what the page cannot know from the ledger: who shows it, and by which config.
type Process struct {
	Version     string
	Doing       bool             // it makes passes (run), it does not only show (serve)
	Policy      reconcile.Policy // the one in force
	ConfigError string           // why the last reload was refused, "" when it was not
	Proposals   []Proposal       // of programs, which wait for an operator
}
