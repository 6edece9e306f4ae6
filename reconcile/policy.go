package reconcile

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Shared is how many remedies that end something one pass may begin: a share of the fleet,
// at least 1, never more than per_pass.
func (l Limits) Shared(fleet int) int {
	return min(l.PerPass, max(1, int(l.Share*float64(fleet)+1e-9)))
}

// Describe makes a sandbox as a provider showed it fit to be kept, and notes by which values further
// tables may explain it while its labels are at hand.
func (p *Policy) Describe(sb *Sandbox) {
	sb.scrub()
	for by, table := range p.Tasks.ExplainedBy {
		values := []string{sb.Name, sb.ID}
		if table.Label != "" {
			values = []string{sb.Labels[table.Label]}
		}
		for _, value := range NonEmpty(values...) {
			if key := (FurtherKey{by, value}); keepsLink(value) && !slices.Contains(sb.Further, key) {
				sb.Further = append(sb.Further, key)
			}
		}
	}
}

// Named is what the row says of its sandbox: the value, and the entry that it means; "" where it
// names none of ours.
func (p *Policy) Named(t *Task) Ref {
	_, ours := p.Providers[t.Provider]
	//guard:link-elsewhere harm
	if ours {
		return Ref{t.Provider, t.Sandbox}
	}
	return Ref{"", t.Sandbox}
}

// ByRow reports whether a row may make the sandbox ours.
func (p ProviderPolicy) ByRow(sb *Sandbox) bool {
	//guard:referenced-excepted P1
	return p.Referenced && !sb.Excepted
}

// GoesOnUnnamed reports whether work may go on in a sandbox that nothing shows to be ours: rows alone say whose one is,
// they hold ids, and a later one of a name has another id.
func (p ProviderPolicy) GoesOnUnnamed() bool { return p.Referenced && p.NamesLast && p.SandboxIsID }

// Judges reports whether a rule is on.
func (p *Policy) Judges(rule string) bool {
	mode := p.Rules[rule].Mode
	return mode != Off && mode != ""
}

// ResumeGrace is how long after a resume a failed probe does not count.
const ResumeGrace = 120 * time.Second

// IsLeft reports whether the config leaves the sandbox as it is, for it does not run: at many platforms what is
// stopped or paused is the normal state of what a user goes on with tomorrow, with all files in it.
func (p *Policy) IsLeft(sb *Sandbox) bool {
	return sb.State.AtRest() && !p.Providers[sb.Provider].EndsAtRest
}

// Candidates are the provider entries where the task's sandbox may be: none when the row
// names one that is not configured here, where nobody can look.
func (p *Policy) Candidates(t *Task) []string {
	if t.Provider == "" {
		return p.ProviderNames()
	}
	if _, ok := p.Providers[t.Provider]; ok {
		return []string{t.Provider}
	}
	return nil
}

// Unplaced reports whether the row names an engine that the config has no entry for: nobody can look there.
func (p *Policy) Unplaced(t *Task) bool {
	_, ok := p.Providers[t.Provider]
	return t.Provider != "" && !ok
}

// Has reports whether the source is still one: not of a provider that left the config, nor
// of probes that were switched off. A freeze must not outlive its source.
func (p *Policy) Has(source string) bool {
	kind, name := SourceParts(source)
	switch kind {
	case SourceListing, SourceCredential:
		_, ok := p.Providers[name]
		return ok
	case SourceProbes:
		entry, ok := p.Providers[name]
		return ok && !entry.Probe.Off
	case SourceClock:
		if of, is := ClockProvider(source); is {
			_, ok := p.Providers[of]
			return ok
		}
	case SourceActivity:
		return !p.Tasks.None && p.Judges("inactive")
	}
	return !p.Tasks.None
}

// Forever is longer than anything that is measured.
const Forever = time.Duration(math.MaxInt64)

// ProviderNames are the entries of the config, in order.
func (p *Policy) ProviderNames() []string { return SortedKeys(p.Providers) }

// A Mode says what a rule may do.
type Mode string

// The modes of a rule.
const (
	Off     Mode = "off"     // the rule is not judged
	Observe Mode = "observe" // judged, shown, probed; nothing is changed outside
	Enforce Mode = "enforce" // repaired, within budgets
)

// A Remedy names what repairs a finding.
type Remedy string

// The remedies. Fail and requeue write the task row and then terminate the subject's own
// sandboxes.
const (
	Fail       Remedy = "fail"
	Requeue    Remedy = "requeue"
	Terminate  Remedy = "terminate"
	Quarantine Remedy = "quarantine"
	Stop       Remedy = "stop" // the sandbox is stopped or paused, and never ended for it
	Report     Remedy = "report"
	Activate   Remedy = "activate"
)

// A Policy is everything that judging and planning need of the config. It is data: two
// passes with the same policy and the same snapshot come to the same verdicts.
type Policy struct {
	Installation string
	Quick, Full  time.Duration // the longest gap between two passes on schedule
	Small        int           // calls to a provider that a full pass may take for quick ones to be full as well; 0: never
	Rules        map[string]RulePolicy
	Limits       Limits
	Providers    map[string]ProviderPolicy
	Tasks        TasksPolicy
	Proof        ProofPolicy
	Canary       CanaryPolicy
	Auto         map[string]bool // rules whose threshold is learned, see [Learned]; their own is the default until then
	TwoOperators bool            // the config names two or more: what is asked for with --anyway takes two of them
	Learned      []Learned       // of a policy in force: what was learned and counts, see [Policy.WithLearned]
}

// A RulePolicy is one rule's settings, defaults filled in.
type RulePolicy struct {
	Mode      Mode
	Named     bool          // the config names the rule
	After     time.Duration // the threshold; 0 means at once, or off where the rule says so
	Rollout   int           // percent of subjects, by a stable hash, that may be acted on
	Remedy    Remedy
	Overrides []Override

	Conclusive time.Duration // assigned-stale: threshold when the failure is proven
	Sightings  int           // orphan: full passes that must have seen it
	Apart      time.Duration // orphan, record-without-container: time between two sightings that count
	Looks      int           // sandbox-missing, record-without-container: passes that must have looked
	Failures   int           // idle-broken: failed probes in a row
	Ahead      time.Duration // template-unusable: warn this long before expiry

	Count, Critical, Escalate, Quota int           // systemic; capacity (quota in percent)
	Window, For                      time.Duration // systemic; capacity
	MakeRoom                         bool          // capacity: full quotas let due clean-up go first
	AtRest                           int           // capacity: active sandboxes while no task lives; 0: no norm
}

// An Override is another threshold for a class of subjects. When holds the class:
// template, provider, region, or task.COLUMN; all must match.
type Override struct {
	When  map[string]string
	After time.Duration
}

// Limits are the budgets of acting.
type Limits struct {
	PerPass int     // remedies begun in one pass
	Share   float64 // of the owned fleet in one pass, at least 1 sandbox
	Breaker float64 // of the fleet: a rule with more steps due than this (and than 10) is held
	PerHour int     // remedies begun in a rolling hour

	KeepAlive time.Duration // how long a row may keep the sandbox of a task that is over; 0 means 30 days
}

// Kept is how long a row may keep the sandbox of a task that is over, whatever it asks for.
func (l Limits) Kept() time.Duration { return cmp.Or(l.KeepAlive, 30*24*time.Hour) }

// A ProviderPolicy is what judging needs of a provider entry.
type ProviderPolicy struct {
	Name, Kind    string
	URL           string // of its API, as the config has it
	Exclusive     bool   // nobody else creates sandboxes that look like ours
	Referenced    bool   // owned means: a row refers to it
	LinkTask      bool   // the link is a label that holds the task's id
	LinkSandbox   bool   // the link is tasks.sandbox, compared with id, name or a label
	SandboxIsID   bool   // tasks.sandbox holds the provider's immutable id
	SandboxIsName bool   // tasks.sandbox holds the sandbox's name
	Templates     []string
	Probe         ProbePolicy
	QuarantineFor time.Duration
	Suspends      bool          // its sandboxes can be stopped or paused and come back; the keeper asks the adapter
	KeptAwake     bool          // a probe counts as activity; the keeper asks the adapter
	NamesLast     bool          // a later sandbox of a name goes on with the work; the keeper asks the adapter
	Records       bool          // it keeps a record of how sandboxes ended; the keeper asks the adapter
	TwoStores     bool          // a get and a listing read two stores; the keeper asks the adapter
	IndexLag      time.Duration // what is made is listed within so long, 0 for not told; the keeper asks the adapter
	Rate          float64       // calls a second, over all replicas; 0: not known
	PricePerHour  float64       // USD for one sandbox
	Prices        []Price       // of templates, regions and sizes that cost something else
	LinkRequired  bool          // each sandbox of ours has the link: one without it may be terminated
	EndsAtRest    bool          // what is stopped, paused or suspended may be terminated like what runs
	Key           string        // tells credentials apart, and none of them; "" where it is not known
}

// Refused is a refusal in such words, with the key that was refused.
func (p ProviderPolicy) Refused(words string) Distrust {
	if p.Key == "" {
		return Said(words)
	}
	return Distrust{Kind: DistrustKeyRefused, Key: p.Key, Said: words}
}

// Another reports whether what was refused was another key.
func (p ProviderPolicy) Another(refused Distrust) bool {
	return p.Key != "" && refused.Kind == DistrustKeyRefused && refused.Key != p.Key
}

// ByKey reports whether the task's row names its sandbox by something else than its id.
func (p ProviderPolicy) ByKey(t *Task) bool {
	return p.LinkSandbox && !p.SandboxIsID && t.Sandbox != ""
}

// A ProbePolicy says how sandboxes of a provider are probed.
type ProbePolicy struct {
	Off     bool
	Exec    string        // command; "" means no exec probe
	Path    string        // a path that always exists; "" means no file probe
	Worker  string        // command that tells whether the task's worker is there: 0 alive, 1 dead, else unknown
	Every   time.Duration // rotating sample
	Timeout time.Duration // of one probe, inside the sandbox
	Budget  int           // probes a minute, over all replicas
}

// A TasksPolicy is what judging needs of the task mapping.
type TasksPolicy struct {
	None         bool // no task table: sandbox-side rules only
	Events       bool // an events table is mapped
	Heartbeats   bool // workers send heartbeats: by event type or column
	Requeue      bool // attempts and max_attempts are mapped
	HasAssigned  bool // assigned_at is mapped
	HasUpdated   bool // updated_at is mapped
	ErrorMapped  bool
	Tenants      bool // rows say whose they are
	Traces       bool // rows name the trace of their work
	FailsRows    bool // the config says what a failed row is
	Requeues     bool // the config says what a row is that is handed out again
	SandboxKnown bool // tasks.sandbox is a name that providers know

	KeepSandboxes bool // what a task explains is never ended
	TellsUse      bool // rows of finished tasks say until when their sandboxes are kept, or when they were used
	DeadlineFails bool // a task has failed when its deadline is over; else that is only reported

	ExplainedBy []Explanation // further tables that explain sandboxes
}

// An Explanation is a further table of the platform whose rows explain sandboxes that no task does.
type Explanation struct {
	Table string // as the config names it
	Label string // the sandbox's label that is compared with the table's key; "" for its name or id
}

// Skew is how far a clock may run ahead of the database's before it is not believed.
const Skew = 5 * time.Second

// ProviderSkew is how far a provider's clock may be off, or be set, before it is not believed.
const ProviderSkew = 30 * time.Second
