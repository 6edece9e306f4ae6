package reconcile

import (
	"slices"
	"time"
)

// A Rule is a row of [Rules]: all that is known of a rule besides the function that finds.
type Rule struct {
	Name   string
	Means  string // what it finds, for those who do not know its name
	Family Family

	RestsOn       Sources // an untrusted one holds its verdicts
	FullOnly      bool    // judged by full passes alone: it rests on a whole listing
	NeedsTasks    bool    // finds nothing where there are no tasks
	Needs         Needs
	Silence       bool    // judges by silence: a failed probe, or the worker's own, has to agree
	Worker        bool    // the worker's own probe settles it where one is configured: gone at once, there never
	RefutedBy     Refuter // what takes the verdict back, also in the guarded write and two hours after it
	FromSighting  bool    // its threshold counts from the first sighting too
	RowFirst      bool    // its subject may be a task at work: the row is failed before its sandbox is quarantined
	Authoritative bool    // somebody set the end, and what it finds began with it: no incident holds it
	MakesRoom     bool    // ends what nobody works in, in whatever order: goes first while a quota is full
	KeptAlive     bool    // a row that asks to keep its sandbox for longer takes the verdict back
	OfLiveTask    Ending  // which sandboxes of a task that lives on may be ended all the same

	Off    bool          // runs only when the config names it
	Must   bool          // After must be given
	AtOnce bool          // After may be 0
	Floor  time.Duration // of After; 0 stands for a second
	// for a platform that nobody here knows: others take an hour where the known ones take minutes
	Default  RulePolicy
	Presets  map[string]time.Duration // After where a preset's platform asked for another
	Remedies []Remedy                 // those that the config may name, the default first
	Keys     []string                 // its own keys in the config
	Window   time.Duration            // the most that its window may be; 0: any
}

// A Family says what becomes of the findings of a rule.
type Family int

// The families.
const (
	Failure Family = iota // failures of work: those with one cause are one incident
	CleanUp               // ends what is left over: no failure of work, never part of an incident
	Fleet                 // about the whole fleet and not about one subject: reports
)

// CleanUpRules are the rules whose findings are leaks.
func CleanUpRules() (names []string) {
	for _, name := range RuleNames {
		if RuleNamed(name).Family == CleanUp {
			names = append(names, name)
		}
	}
	return names
}

// Sources are kinds of sources that a verdict rests on.
type Sources uint8

// The sources. Listings and probes are those of the subject's own providers.
const (
	OnTasks Sources = 1 << iota
	OnLink
	OnEvents
	OnActivity
	OnListing
	OnProbes
)

// Needs are what has to be looked at for a rule besides rows and listings.
type Needs uint8

// The needs.
const (
	NeedProbes Needs = 1 << iota
	NeedExecutions
	NeedUsage
	NeedQuotas
)

// A Refuter is what shows that a worker lives which a rule marked failed or stuck.
type Refuter int

// The refuters.
const (
	Irrefutable Refuter = iota // it calls no worker dead: what it ends cannot come back
	BySign                     // any sign of life
	ByActivity                 // only activity: it calls a worker stuck in spite of its heartbeats
)

// An Ending says which sandboxes may be ended although their task lives.
type Ending int

// The endings.
const (
	EndNone     Ending = iota // none: the row has to be over, or set back by us
	EndUnnamed                // one that the row does not name: it was one too many from the start
	EndLifeless               // one that has failed, of a task that shows no life: nobody goes on in that
)

// RuleNamed is the row of a rule. Of a name that is no rule's it is one that has nothing.
func RuleNamed(name string) *Rule {
	if i := slices.Index(RuleNames, name); i >= 0 {
		return &Rules[i]
	}
	return &Rule{Name: name}
}

// Watched reports whether the tasks that the rule fails are watched for life afterwards. It
// does for the rules that call a worker dead or stuck; what the others end cannot come back.
func Watched(rule string) bool { return RuleNamed(rule).RefutedBy != Irrefutable }

// WatchedRules are the rules whose tasks are watched.
func WatchedRules() []string { return slices.DeleteFunc(slices.Clone(RuleNames), unwatched) }

func unwatched(rule string) bool { return !Watched(rule) }

// SignOf is the newest sign of life that would refute the rule.
func SignOf(rule string, t *Task) time.Time {
	if RuleNamed(rule).RefutedBy == ByActivity {
		return t.Activity()
	}
	return t.LastSeen()
}
