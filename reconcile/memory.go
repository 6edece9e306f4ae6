package reconcile

import (
	"slices"
	"time"
)

// Another reports whether the id is another sandbox's by now, at a time of the ledger: one that its provider made
// later, and that is younger than the ledger's first sight of the former. A listing may have lied of when that was
// made, once. Providers promise that ids are never used twice; what was known of the former is not true of it.
func (s SandboxSeen) Another(now *Sandbox, at time.Time) bool {
	//guard:another-younger harm
	if at.Sub(s.FirstSeen)-now.AsOf.Sub(now.CreatedAt) <= Skew {
		return false
	}
	return s.MadeLater(now)
}

// MadeLater reports whether the sandbox is dated later than the ledger knows it: it may be another one.
func (s SandboxSeen) MadeLater(now *Sandbox) bool {
	return !s.CreatedAt.IsZero() && now.CreatedAt.Sub(s.CreatedAt) > Skew
}

// Memory is what the ledger knew when the pass began. The zero Memory is a ledger that
// has seen nothing, for example before the first migrate.
type Memory struct {
	Now        time.Time       // the ledger's now, read with the rest
	Turn       int64           // of [Recalled], by which it was recalled; 0 where all was read
	Fresh      bool            // no complete pass is on record
	WatchSince time.Time       // ledger-timed clocks do not reach further back: set again after a gap between passes
	Gaps       []time.Duration // up to the last 5 gaps between complete passes, newest first
	LastPass   time.Time       // end of the last complete pass, zero when Fresh
	LastFull   time.Time       // end of the last complete full pass

	Tasks          RememberedTasks     // rows that were live at the last pass that read tasks, and recent others
	Sandboxes      RememberedSandboxes // inventory: those not gone, and the gone ones of live tasks
	Findings       map[FindingKey]Finding
	Actions        []Action // open ones: planned, claimed or accepted
	Probes         map[Ref]ProbeSeen
	Templates      map[Ref]TemplateSeen // Ref.ID is the template's name
	Sources        map[string]SourceSeen
	Controls       Controls
	Spent          Spent
	Verdicts       []Verdict           // that are watched, or young enough to count for an incident; oldest first
	FalsePositives map[string]Tally    // by rule: of its last 100 enforced verdicts since it was armed
	RefutedBy      map[string][]string // by rule: whose those false positives are, once each; "" for nobody known
	Armed          map[string]int64    // by rule: its verdicts up to this number were forgiven when it was armed last
	Canaries       []Canary            // the newest that were planted, newest first
	Known          map[string]bool     // rules that the ledger knew before this program's version; nil means all
}

// TaskSeen is what the ledger remembers of a task. Its times are the ledger's, except
// where a comment says otherwise.
type TaskSeen struct {
	ID           string
	Status       string
	State        TaskState
	Sandbox      string    // the sandbox column
	Named        string    // the sandbox column when the row was last seen live
	Tenant       string    // whose it is; "" when not known
	Trace        string    // the trace of its own work that the row names; "" when not known
	Since        time.Time // first seen in this status
	FirstSeen    time.Time
	UpdatedAt    time.Time   // the row's updated_at at the last look (task database's clock)
	StartedAt    time.Time   // the row's started_at at the last look (task database's clock)
	StaleStart   time.Time   // a started_at that was already there in an earlier state: of an earlier attempt
	EntrySum     uint64      // of what changes when the task is handed out again: mark, attempts and session
	AheadSign    time.Time   // a sign of life from the future (task database's clock); zero when there is none
	AheadSince   time.Time   // when the ledger first saw it
	ErrorSum     uint64      // hash of the error column at the last look
	ErrorChanged bool        // the error column changed during the present state, by no mark of ours
	Attempts     []time.Time // when attempts ended without success: failed, requeued, recreated; the last 10
	Recreated    time.Time   // when it got another sandbox, until the worker in that showed life; zero else
	LateSign     time.Time   // newest sign of life after a stop that was counted (task database's clock)
	MarkSum      uint64      // hash of the mark of activity at the last look
	MarkAt       time.Time   // when the ledger last saw the mark change; zero while it did not

	BeatAt  time.Time     // newest heartbeat at the last look (task database's clock)
	BeatGap time.Duration // between the last two heartbeats that were seen with no work between; 0 when not known
	Live    bool
}

// WasLive reports whether a pass saw the task live: also one whose row is gone, and was live when it was last read.
func (s *TaskSeen) WasLive() bool { return s.Live || s.State.Live() || s.FirstSeen.Before(s.Since) }

// SandboxSeen is what the ledger remembers of a sandbox. Its times are the ledger's,
// except where a comment says otherwise.
type SandboxSeen struct {
	Ref
	Name       string
	Task       string // the task it was linked to when last seen linked
	Template   string
	State      SandboxState
	Raw        string
	CreatedAt  time.Time // provider's clock
	FirstSeen  time.Time
	StateSince time.Time // first seen in this state
	ResumedAt  time.Time // last seen to come back from suspended or stopped; zero when never
	WorkedAt   time.Time // when it was first seen to work after that: a probe answered, or a sign of life
	RanAt      time.Time // first seen running; zero when never
	GoneAt     time.Time // zero while it exists
	GoneByUs   bool      // confirmed gone after our terminate
	Region     string    // as it was last said, as is Size
	Size       Size
}

// SourceSeen is the trust in a source as the last pass left it. Sources are "tasks",
// "events", "link", "clock:COLUMN", "listing:PROVIDER", "probes:PROVIDER" and
// "credential:PROVIDER", whose Since is the last time that it was refused.
type SourceSeen struct {
	Name        string
	Trusted     bool
	Reason      Distrust  // why it is not trusted
	Since       time.Time // of the present trust or distrust
	RecoveredAt time.Time // when trust last came back after distrust; zero when never lost
	LastTrusted time.Time

	// Of the tasks alone, by their database's clock: what it told when it was trusted last, and how
	// far it had come when it was set back; zero for never.
	Clock, SetBack time.Time

	// Of the events alone: how far apart heartbeats were seen to come here; 0 when not measured.
	Beat time.Duration
}

// TemplateSeen is what the ledger remembers of a template.
type TemplateSeen struct {
	Provider, Name string
	State          TemplateState
	Raw            string
	Error          string
	LastStart      time.Time // last sandbox from it that was seen running (its creation, provider's clock)
	LastUsed       time.Time // as the provider says
	ExpiresAt      time.Time // zero when it does not
	LookedAt       time.Time // ledger's clock
}

// ProbeSeen sums up the probes of one sandbox: its newest result and its present run of
// failures. All times are the ledger's.
type ProbeSeen struct {
	Ref
	Last         ProbeResult
	LastAnswered time.Time      // newest probe that was answered
	WorkerAt     time.Time      // newest probe that found the worker alive
	RunEnded     time.Time      // newest failure of the run that an answer ended last
	Failures     []ProbeResult  // the present run of failures, oldest first, at most 10; empty after an answer
	Measurements []Measurements // the newest measurements, oldest first, at most 10
}

// Controls are the requests of operators that are in force.
type Controls struct {
	Modes    map[string]Mode     // lowered modes by rule
	Lowered  map[string]Lowering // who lowered them, by rule
	Pauses   []Pause
	Holds    []Hold
	Releases []Release
	Breakers map[string]Breaker // open breakers by rule

	Incidents []Incident // open ones, released or not

	Proofs []Proof        // what is known of how often rules are wrong here
	Arms   map[string]Arm // by rule: an operator lets it act unproven
	// Learned are the thresholds of rules whose config says `after: auto`, as they were computed last.
	Learned []Learned
	// Disarmed is, by rule, when an operator took that back last.
	Disarmed map[string]time.Time
	Grace    map[string]time.Time // by rule: until when it acts unproven, because it did before there was a gate

	Unsigned []UnsignedRequest // requests that count for nothing, because nobody with the operator key made them
}

// An UnsignedRequest would have let something go, and somebody without the operator key wrote it.
type UnsignedRequest struct{ Subject, What string }

// AuthorSelf is the author of what sandkeeper asked for by itself: a rule that its false positives
// lowered.
const AuthorSelf = "sandkeeper"

// A Lowering says who lowered the mode of a rule, when and why.
type Lowering struct {
	Attribution
	At time.Time
}

// A Pause stops acting: of all, of a rule, or of a provider.
type Pause struct {
	Scope  string // "all", "rule:NAME" or "provider:NAME"
	Reason string
	Author string
	At     time.Time
	Until  time.Time // zero: until resumed
}

// A Hold keeps one thing from being acted on.
type Hold struct {
	ID     int64
	Target string // "task:ID", "sandbox:ID", "label:KEY=VALUE" or "provider:NAME"
	Reason string
	Author string
	At     time.Time
	Until  time.Time // zero: until lifted
}

// A Release lets listed subjects pass a freeze or a breaker, until a time.
type Release struct {
	ID       int64
	What     string // "breaker:RULE" or a source's name
	Subjects []string
	Hash     string // of the subjects, as shown to the person who released them
	Reason   string
	Author   string
	At       time.Time
	Until    time.Time
}

// A Breaker is the open breaker of one rule.
type Breaker struct {
	Rule     string
	OpenedAt time.Time
	Subjects []string // all that were due and not released
	Hash     string
}

// Spent counts the remedies begun recently, for the budgets.
type Spent struct {
	Hour int // in the last rolling hour
}

// Queues reports whether the newest measurement of the executions shows some that wait and
// none that runs.
func (p *ProbeSeen) Queues() bool { return p.RecentQueue(time.Time{}) == QueueWaiting }

// RecentQueue is what the executions looked like when they were measured last, if that was
// not before a moment.
func (p *ProbeSeen) RecentQueue(since time.Time) QueueState {
	for i := len(p.Measurements) - 1; i >= 0 && !p.Measurements[i].At.Before(since); i-- {
		if e := p.Measurements[i].Executions; e != nil {
			return QueueOf(e)
		}
	}
	return QueueUnknown
}

// Watch restarts what the ledger timed itself after a gap of more than two intervals
// between passes: nobody looked, so nothing was seen to last. The interval is the longer
// of the schedule and of what passes do in practice.
func Watch(m *Memory, p *Policy) time.Time {
	if m.Fresh || m.LastPass.IsZero() {
		return m.Now
	}
	interval := max(p.Full, UsualGap(m))
	last := m.LastPass
	// A pass that a listing failed in has read the rows and the other listings: the failed one has a timer of its own.
	if tasks := m.Sources[SourceTasks]; tasks.Trusted {
		last = Latest(last, tasks.LastTrusted)
	}
	//guard:watch-gap P6
	if interval > 0 && m.Now.Sub(last) > 2*interval {
		return m.Now
	}
	return m.WatchSince
}

// Unseen is the latest moment at which a pass looked at all live rows and did not see that of a task; not watched
// when none did.
func (m *Memory) Unseen(task string) (at time.Time, watched bool) {
	tasks, seen := m.Sources[SourceTasks], m.Tasks.Of(task)
	if m.LastPass.IsZero() || !tasks.Trusted {
		return time.Time{}, false
	}
	if seen.FirstSeen.IsZero() {
		return m.LastPass, true
	}
	//guard:row-backdated-watch P1
	before := seen.FirstSeen.Before(m.WatchSince) // what nobody watched since then makes no row older
	return m.beforeSight(seen.FirstSeen), seen.FirstSeen.After(tasks.RecoveredAt) &&
		(before || seen.FirstSeen.After(m.WatchSince))
}

// beforeSight is the end of the pass before a first sight. Of one that is longer ago than the gaps that are on record
// it is what they usually come to, with one pass that failed: a gap that came later says nothing of it.
func (m *Memory) beforeSight(first time.Time) time.Time {
	at, longest := m.LastPass, time.Duration(0)
	for _, gap := range m.Gaps {
		if at.Before(first) {
			return at
		}
		at, longest = at.Add(-gap), max(longest, gap)
	}
	if at.Before(first) {
		return at
	}
	//guard:row-backdated-gap P1
	longest = min(longest, 2*UsualGap(m))
	return first.Add(-longest)
}

// UsualGap is the median of the last gaps between passes, 0 when there is none.
func UsualGap(m *Memory) time.Duration {
	if len(m.Gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.Gaps))
	return sorted[len(sorted)/2]
}
