package reconcile

import (
	"slices"
	"strings"
	"time"
)

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

	// CallsAhead is how far ahead the places for calls to each provider are given out: 0 where its rate has room now.
	CallsAhead map[string]time.Duration

	Incidents      []Incident       // open ones oldest first, then the closed ones, newest first
	FalsePositives []Verdict        // those with a regret, newest first
	Tallies        map[string]Tally // by rule, see [Memory.Regrets]
	Scores         Scores           // of the last 24 hours
	Canaries       []Canary         // the newest that were planted, newest first
}

// Scores are the numbers that are held against targets, over a window that ends now. A rate
// whose denominator is 0 was not measured.
type Scores struct {
	Window time.Duration

	Asked, Confirmed     int            // terminates that were begun and are settled or overdue; of these confirmed
	Gone, GoneFast       int            // confirmed ones that were timed; of these gone within 30s of the first request
	Stops, StopsFast     int            // stopped tasks whose sandbox we ended; of these asked within 5s of the stop
	StopGone             Quantiles      // seconds from stop to gone
	DeadlineGone         Quantiles      // seconds from deadline to gone
	Stuck, StuckFast     int            // verdicts on workers with a known begin; of these within 60s of their threshold
	Ended                map[string]int // tasks by "completed", "failed", "stopped", "deleted"
	Inactive             int            // verdicts of the rule inactive
	Recreated, Back      int            // tasks that got another sandbox; of these whose worker then showed life
	Resumed, Worked      int            // sandboxes that came back from a pause or stop; of these that then worked
	WorkAfterStop        int            // looks that found new work of a stopped task
	Probes, ProbesFailed int            // within the window
	Before, BeforeFailed int            // probes of the retention before the window: the baseline
	Active, Live         int            // sandboxes running, and live tasks, by the newest full pass; -1 when not measured
}

// Quantiles sum up a measured time.
type Quantiles struct {
	Count    int
	P50, P95 time.Duration
}

// A RuleReport is what one rule came to in a window: the way to arm it.
type RuleReport struct {
	Rule           string
	Verdicts       int       // due and held by nothing but the mode, rollout, budgets and operators
	Acted          int       // of these, repaired by us
	Subjects       int       // different ones
	FalsePositives int       // that came back to life
	Examples       []Verdict // the newest false positives, at most 3
	Resolved       int       // findings of it that resolved by themselves
	ByRule         int       // that another rule repaired
	ByOperator     int       // that an operator repaired
	// USD that the sandboxes of its verdicts cost from the verdict until they were gone, or until now
	Cost       float64
	UntilFound float64      // USD that they had cost by the verdict, from what it found began, else from their start
	Saved      float64      // USD that those would have cost since they were gone that we ended in the window
	FirstSeen  time.Time    // of its first finding on record
	Groups     []LabelGroup // labels of what it was wrong about, those that say most first
	Curve      *Curve       // of its last backtest; nil when there is none
	Money      []RuleMoney  // Cost, UntilFound and Saved by provider, where there is any
}

// RuleMoney is what the sandboxes of a rule at one provider come to, in USD, as [RuleReport] has it for all.
type RuleMoney struct {
	Provider                string
	Cost, UntilFound, Saved float64
}

// Count adds money to what its provider and the rule come to.
func (r *RuleReport) Count(m RuleMoney) {
	if m.Cost == 0 && m.UntilFound == 0 && m.Saved == 0 {
		return
	}
	r.Cost, r.UntilFound, r.Saved = r.Cost+m.Cost, r.UntilFound+m.UntilFound, r.Saved+m.Saved
	i, found := slices.BinarySearchFunc(r.Money, m.Provider, func(a RuleMoney, name string) int {
		return strings.Compare(a.Provider, name)
	})
	if !found {
		r.Money = slices.Insert(r.Money, i, RuleMoney{Provider: m.Provider})
	}
	of := &r.Money[i]
	of.Cost, of.UntilFound, of.Saved = of.Cost+m.Cost, of.UntilFound+m.UntilFound, of.Saved+m.Saved
}

// Measures are the numbers that the ledger knows, for metrics, read in one snapshot. What
// could not be measured is absent, never 0.
type Measures struct {
	Now       time.Time             // the ledger's
	Passes    map[PassKind]PassSeen // the newest complete one of each kind; a full pass counts as quick too
	Counts    map[string]int        // of the newest pass that ended, of each kind, complete or not
	Findings  []FindingCount        // open ones
	Held      []HeldCount
	Shielded  []Shielded    // longest first
	Actions   []ActionCount // open ones
	Overdue   int           // terminates that were begun 2 minutes ago or more and are not confirmed
	Counters  []Counter
	Sources   []SourceSeen
	Templates []TemplateSeen
	Controls  Controls
	Tallies   map[string]Tally // by rule, see [Memory.Regrets]
	Notices   int              // still to be delivered

	Canaries []Canary // the newest that were planted, newest first

	Spent   int       // remedies begun in the rolling hour
	Stamped time.Time // when the ledger got its installation; zero: not known
	Bytes   int64     // what the ledger's tables take on disk; 0: not measured
	Leaking []Money   // USD an hour: sandboxes that are found due and still there
	Saved   []Money   // USD: what those cost no more that were ended by us within a day
}

// Money is what the sandboxes of one rule at one provider come to.
type Money struct {
	Rule, Provider string
	Count          int
	USD            float64
}

// A FindingCount counts open findings of one rule at one provider.
type FindingCount struct {
	Rule, Provider string // Provider is "" for a task without a sandbox
	Open, Due      int
	Oldest         time.Time // when the oldest of them opened
}

// Shielded is what a freeze, a veto or a link keeps from being repaired, of one tenant.
type Shielded struct {
	Tenant string // "" when not known
	By     string // "freeze", "veto" or "link"
	Count  int
	Open   time.Duration // for how long they have been open, added up
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
