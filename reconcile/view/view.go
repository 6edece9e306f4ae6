package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A View is a snapshot with what the whole fleet says about each subject. It is made once a pass,
// and a second look shares it. It has three layers, and none asks one above it: signs, what was
// heard and seen, and since when; places, whose a sandbox is and where a task's are; and what
// may be believed of the sources.
type View struct {
	places
	Rules []Ruled // those that are judged
	Pairs map[reconcile.Ref]string
	Alike map[string]string // by provider: what sandboxes that nothing explains have in common
	// Strangers says by provider what contradicts that nobody else makes sandboxes there that look like ours.
	Strangers map[string]string
	Ageing    bool // some class has a maximum age
	Telling   bool // the rules are to say why a healthy subject is healthy
}

// Places say whose a sandbox is, and where a task's are.
type places struct {
	signs
	sameAccount map[string][]string // entries that may see the same account
	Successors  Successors          // nil where names do not last, and in a look at one thing
	naming      map[string][]int32  // rows that are not over, by their sandbox; made for the first that asks
	own         OwnNamed            // likewise
}

// Signs are what was heard, seen and measured of each thing, since when, and by whose clock.
type signs struct {
	S   *reconcile.Snapshot
	P   *reconcile.Policy
	Now time.Time // the ledger's

	Live    map[string]*reconcile.Task
	was     []*reconcile.CompactTask // of the live tasks, in their order
	Sources map[string]reconcile.SourceSeen

	Running    int           // tasks in state running
	Actors     int           // of them, those whose workers should be doing something
	Newest     time.Time     // newest sign of life of any running task
	LastActive time.Time     // newest activity of any running task
	Limit      time.Duration // heartbeat limit
	Beats      bool          // some live task has sent a heartbeat, after its start
	setBack    time.Time     // how far the task database's clock had come when it was set back

	Ending     map[reconcile.Ref]bool              // sandboxes with an open terminate
	Asked      map[reconcile.Ref]*reconcile.Action // of these, the ones that the provider accepted
	quarantine map[reconcile.Ref]*reconcile.Action // terminates that wait for a quarantine to end
}

// A Ruled is a rule with its settings.
type Ruled struct {
	*reconcile.Rule
	Policy reconcile.RulePolicy
	Nth    int // of the table
}

// ActiveRules are the rules that a pass of this kind judges by, in the order of the table.
func ActiveRules(kind reconcile.PassKind, p *reconcile.Policy) []Ruled {
	active := make([]Ruled, 0, len(reconcile.Rules))
	for i := range reconcile.Rules {
		r := Ruled{&reconcile.Rules[i], p.Rules[reconcile.Rules[i].Name], i}
		here := kind == reconcile.Full || !r.FullOnly || r.SightedAgain
		if here && r.Policy.Mode != reconcile.Off && r.Policy.Mode != "" {
			active = append(active, r)
		}
	}
	return active
}

// New makes the view of a snapshot under a policy.
func New(s *reconcile.Snapshot, p *reconcile.Policy) *View {
	s = snapshotOwn(s)
	v := &View{Rules: ActiveRules(s.Kind, p)}
	v.listener().listen(s, p)
	v.sameAccount = sameAccountOf(p.Providers)
	for i := range s.Sandboxes {
		if s.Sandboxes[i].StableName {
			v.Successors = snapshotSuccessors(s)
			break
		}
	}
	oldest := p.Rules["over-age"]
	v.Ageing = oldest.After > 0 || len(oldest.Overrides) > 0
	return v
}

// Of is the view of nothing: what the policy alone says.
func Of(p *reconcile.Policy) *View { return New(&reconcile.Snapshot{}, p) }

// A listener is the part of [signs] that takes them from a snapshot, once, when a view is made.
type listener struct{ *signs }

func (v *signs) listener() listener { return listener{v} }

// listen takes the signs of a snapshot.
func (v listener) listen(s *reconcile.Snapshot, p *reconcile.Policy) {
	v.S, v.P, v.Now = s, p, s.Memory.Now
	v.Live = make(map[string]*reconcile.Task, len(s.Tasks))
	v.was = make([]*reconcile.CompactTask, len(s.Tasks))
	v.Sources = map[string]reconcile.SourceSeen{}
	v.Limit = max(policyHeartbeatLimit(p), beatsMissed*s.Memory.Sources[reconcile.SourceEvents].Beat)
	v.setBack = v.clockSetBack()
	for i := range s.Tasks {
		v.hear(i, &s.Tasks[i])
	}
	v.hearPlain(&s.Plain)
	v.leave()
	v.quarantine = v.quarantines()
}

// hear takes the signs of one live task.
func (v listener) hear(i int, t *reconcile.Task) {
	v.Live[t.ID] = t
	v.was[i], _ = v.S.Memory.Tasks.At(t.ID)
	seen := v.SeenTask(i)
	v.markActivity(t, &seen)
	if t.State == reconcile.TaskRunning {
		v.Running++
		v.Newest = reconcile.Latest(v.Newest, v.Sign(t))
		v.LastActive = reconcile.Latest(v.LastActive, v.Activity(t))
		if taskActing(t) {
			v.Actors++
		}
	}
	//guard:beats-still harm
	if hasBeaten(t) {
		v.Beats = true
	}
}

// SeenTask is what the ledger remembered of the live task at that place.
func (v *signs) SeenTask(i int) SeenTask { return SeenTask{v.was[i].Seen(), v.was[i] != nil} }

// leave settles which sandboxes are on their way out by the ledger's open actions.
func (v listener) leave() {
	waiting := map[string]bool{} // remedies that nobody has begun
	for _, a := range v.S.Memory.Actions {
		if a.Seq == 0 && !a.Begun() {
			waiting[a.Remedy] = true
		}
	}
	v.Ending, v.Asked = map[reconcile.Ref]bool{}, map[reconcile.Ref]*reconcile.Action{}
	stopping := v.stopping()
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		//guard:leaving-waits live
		if a.Step != reconcile.StepTerminate || waiting[a.Remedy] || a.InQuarantine() && stopping[a.Remedy] {
			continue
		}
		v.Ending[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = true
		if a.Outcome == reconcile.OutcomeAccepted {
			v.Asked[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = a
		}
	}
}

// A SeenTask is what the ledger remembered of a task before this pass.
type SeenTask struct {
	reconcile.TaskSeen
	Known bool
}

// policyHeartbeatLimit is how old a sign of life may be before the worker counts as silent. It is
// the threshold of heartbeat-lost, also while that rule is off.
func policyHeartbeatLimit(p *reconcile.Policy) time.Duration {
	if after := p.Rules["heartbeat-lost"].After; after > 0 {
		return after
	}
	return 90 * time.Second
}

// Since is how long ago a moment of the ledger's clock was. It never reaches further back
// than the present watch: after a gap between passes the ledger's own clocks start again.
func (v *signs) Since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	//guard:since-watch P6
	return v.Now.Sub(reconcile.Latest(t, v.S.Memory.WatchSince))
}

// Observed is for how long all the sources have been watched without an outage.
func (v *signs) Observed(sources ...string) time.Duration {
	shortest := reconcile.Forever
	for _, name := range sources {
		//guard:observed-recovered P6
		if at := v.Sources[name].RecoveredAt; !at.IsZero() {
			shortest = min(shortest, v.Now.Sub(at))
		}
	}
	return shortest
}

// FreshSightings is the moment from which sightings that rest on the sources count.
func (v *signs) FreshSightings(sources ...string) time.Time {
	from := v.S.Memory.WatchSince
	for _, name := range sources {
		//guard:anew-recovered P6
		from = reconcile.Latest(from, v.Sources[name].RecoveredAt)
	}
	return from
}

// StateAge is for how long the task has certainly been in its present state: by the
// column that records the entry, where there is one; else the longer of "unchanged since
// updated_at" and "in this status since the ledger first saw it".
func (v *signs) StateAge(s *reconcile.Subject) (age time.Duration, by string) {
	t := s.Task
	//guard:state-clock P5
	//guard:state-stale P5
	if at, column := SubjectEntry(s); !at.IsZero() && v.ClockTrusted(t, column) && !v.stale(s, t.AsOf.Sub(at)) {
		return max(t.AsOf.Sub(at), 0), column
	}
	//guard:state-updated P5
	if !t.UpdatedAt.IsZero() && v.ClockTrusted(t, "updated_at") {
		age, by = t.AsOf.Sub(t.UpdatedAt), "updated_at"
	}
	if was := s.Seen(); s.Known && was.Status == t.Status {
		if seen := v.Since(was.Since); seen > age {
			age, by = seen, "ledger"
		}
	}
	return max(age, 0), by
}

// Stood is for how long nothing of the row has changed, its state included: 0 where no column or no clock tells, and
// where the ledger saw a later begin, which the platform did not write down.
func (v *signs) Stood(s *reconcile.Subject) time.Duration {
	t := s.Task
	age := t.AsOf.Sub(t.UpdatedAt)
	//guard:stood-clock P5
	//guard:stood-begun P5
	if t.UpdatedAt.IsZero() || !v.ClockTrusted(t, "updated_at") || v.stale(s, age) {
		return 0
	}
	return age
}

// stale reports whether a column's age of the state is longer than it can be: the ledger saw
// the task in another state since. Between that look and the first one that saw the present
// state lies at most a gap between two passes.
func (v *signs) stale(s *reconcile.Subject, age time.Duration) bool {
	was := s.Seen()
	if !s.Known || !was.FirstSeen.Before(was.Since) {
		return false
	}
	gap := max(v.P.Full, reconcile.UsualGap(&v.S.Memory))
	return age > v.Now.Sub(was.Since)+2*gap
}

// SubjectEntry is the column that records the entry into the present state, zero when the row
// has none. A start time of an earlier attempt is none. What is over was not over before its end, whatever a
// state_since says that some rows have from their start.
func SubjectEntry(s *reconcile.Subject) (time.Time, string) {
	t := s.Task
	//guard:entry-ended P5
	if t.State.Terminal() && t.EndedAt.After(t.StateSince) {
		return t.EndedAt, "ended_at"
	}
	if !t.StateSince.IsZero() {
		return t.StateSince, "state_since"
	}
	switch t.State {
	case reconcile.TaskAssigned:
		return t.AssignedAt, "assigned_at"
	case reconcile.TaskRunning:
		if !t.StartedAt.Equal(s.Seen().StaleStart) {
			return t.StartedAt, "started_at"
		}
	case reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped:
		return t.EndedAt, "ended_at"
	}
	return time.Time{}, ""
}

// ClockTrusted reports whether a column of the row is believed.
func (v *signs) ClockTrusted(t *reconcile.Task, column string) bool {
	name := reconcile.ClockOf(column)
	seen, known := v.Sources[name]
	if t.Tenant != "" && (!known || seen.Trusted) {
		seen, known = v.Sources[reconcile.OfTenant(name, t.Tenant)]
	}
	return !known || seen.Trusted
}

// SandboxAge is for how long the sandbox has certainly been in its present state: the longer
// of "no change of it since" by the provider and what the ledger saw.
func (v *signs) SandboxAge(b reconcile.SeenSandbox) time.Duration {
	var age time.Duration
	changed := reconcile.Latest(b.UpdatedAt, b.CreatedAt)
	was := b.Known && (b.Seen().State != b.State || b.Seen().StateSince.After(b.Seen().FirstSeen))
	//guard:box-born harm
	if was || b.UpdatedAt.IsZero() && b.State != reconcile.SandboxCreating {
		changed = time.Time{} // it was in another state since it was made: nothing begins as failed
	}
	//guard:box-state harm
	if b.Known && b.Seen().State == b.State {
		age = v.Since(b.Seen().StateSince)
	}
	if !changed.IsZero() {
		age = max(age, v.stampedAge(b.Ref, b.AsOf.Sub(changed), age))
	}
	return max(age, 0)
}

// Born is how old the sandbox is, by the provider, else, or where it is dated ahead, since the ledger first saw it.
// Where the provider's clock is off it is the smaller of both.
func (v *signs) Born(b reconcile.SeenSandbox) time.Duration {
	age, seen := b.AsOf.Sub(b.CreatedAt), time.Duration(0)
	if b.Known {
		seen = v.Since(b.Seen().FirstSeen)
	}
	if b.CreatedAt.IsZero() {
		return seen
	}
	return v.stampedAge(b.Ref, age, seen)
}

// TaskSeenMoved reports whether the task entered its present state since the ledger last saw it: by
// another status, by another state of the same one, as when its user deleted it, or handed
// out again in the same one, which shows in its attempts, its session or its sandbox. A mere
// touch of the row is none of these.
func TaskSeenMoved(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	//guard:moved-anew P5
	return s.Status != t.Status || s.State != t.State || s.Sandbox != t.Sandbox || s.EntrySum != t.EntrySum()
}

// PerhapsEnded reports whether a write of ours has ended the state that the ledger saw, or may
// have: it was begun, nobody wrote down what became of it, and the row has changed since. Who went
// on with the task then has begun again.
func (v *signs) PerhapsEnded(seen *reconcile.TaskSeen, t *reconcile.Task) bool {
	if t.UpdatedAt.Equal(seen.UpdatedAt) {
		return false
	}
	for i := range v.S.Memory.Verdicts {
		//guard:ended-by-us P5
		if w := &v.S.Memory.Verdicts[i]; w.Task == t.ID && w.FailedAt.After(seen.Since) && !w.FailedAt.After(v.Now) {
			return true
		}
	}
	for i := range v.S.Memory.Actions {
		if a := &v.S.Memory.Actions[i]; a.Task == t.ID && a.Step.OnRow() && a.Begun() {
			return true
		}
	}
	return false
}

// Entered is what the ledger remembers of a task once it has entered another state, or the
// same one again.
func (v *signs) Entered(seen reconcile.TaskSeen, t *reconcile.Task) reconcile.TaskSeen {
	if taskSeenEndedBadly(&seen, t) {
		seen.Attempts = Turned(seen.Attempts, v.Now)
	}
	if taskSeenRecreated(&seen, t) {
		seen.Recreated = v.Now
	}
	//guard:entered-stale-start harm
	if !t.StartedAt.IsZero() && t.StartedAt.Equal(seen.StartedAt) && t.State != reconcile.TaskRunning {
		seen.StaleStart = t.StartedAt
	}
	//guard:entered-since harm
	seen.Status, seen.State, seen.Since = t.Status, t.State, v.Now
	seen.Sandbox, seen.EntrySum = t.Sandbox, t.EntrySum()
	seen.ErrorChanged = false
	return seen
}

// earlierThan reports whether one time of the ledger's clock is older than another. One that lies ahead
// is of before that clock was set back.
func (v *signs) earlierThan(one, other time.Time) bool {
	//guard:earlier-set-back harm
	return one.Before(other) || one.After(v.Now)
}
