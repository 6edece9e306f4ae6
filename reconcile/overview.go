package reconcile

import "time"

// An Overview is what the status page shows of the ledger, read in one snapshot. Lists are
// cut; the counts beside them are not.
type Overview struct {
	Now          time.Time // the ledger's
	Installation string    // "" before the first migrate
	Fresh        bool      // the schema is not there yet: nothing else is set

	Passes   []PassSeen // newest first, one under way and those that never ended included
	LastPass time.Time  // end of the last complete pass of any kind; zero: never
	LastFull time.Time  // end of the last complete full pass; zero: never
	Lease    Lease      // who holds the pass lease now; zero when nobody does

	Findings     []FindingSeen  // open, oldest first
	FindingsOpen map[string]int // by rule
	Resolved     []FindingSeen  // newest first

	Open      []Action // not closed, oldest first
	OpenTotal int
	Recent    []Action // closed, newest first

	Sources   []SourceSeen // by name
	Templates []TemplateSeen
	Controls  Controls
	Counts    map[string]int // of the newest pass of each kind, see [Record.Counts]
}

// Measures are the numbers that the ledger knows, for metrics, read in one snapshot. What
// could not be measured is absent, never 0.
type Measures struct {
	Now       time.Time             // the ledger's
	Passes    map[PassKind]PassSeen // the newest complete one of each kind; a full pass counts as quick too
	Counts    map[string]int        // of the newest pass that ended, of each kind, complete or not
	Findings  []FindingCount        // open ones
	Held      []HeldCount
	Actions   []ActionCount // open ones
	Overdue   int           // terminates that were begun 2 minutes ago or more and are not confirmed
	Counters  []Counter
	Sources   []SourceSeen
	Templates []TemplateSeen
	Controls  Controls
}

// A FindingCount counts open findings of one rule at one provider.
type FindingCount struct {
	Rule, Provider string // Provider is "" for a task without a sandbox
	Open, Due      int
	Oldest         time.Time // when the oldest of them opened
}

// A HeldCount counts the due findings of a rule that one kind of thing holds: "observe",
// "off", "pause", "hold", "breaker", "budget", "rollout", or a source that is not trusted.
type HeldCount struct {
	Rule, By string
	Count    int
}

// An ActionCount counts open actions.
type ActionCount struct {
	Rule, Provider string
	Step           Step
	Outcome        Outcome
	Count          int
}
