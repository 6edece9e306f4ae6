package decide

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A View is a snapshot with what the whole fleet says about each subject: trust in the
// sources, links, pairs. It is made once a pass, and a second look shares it.
type View struct {
	S   *reconcile.Snapshot
	P   *reconcile.Policy
	Now time.Time // the ledger's

	Live        map[string]*reconcile.Task
	seen        []seenTask // of the live tasks, in their order
	Rules       []Ruled    // those that are judged
	sources     map[string]reconcile.SourceSeen
	running     int           // tasks in state running
	newest      time.Time     // newest sign of life of any running task
	limit       time.Duration // heartbeat limit
	beats       bool          // some live task has sent a heartbeat
	pairs       map[reconcile.Ref]string
	sameAccount map[string][]string                 // entries that may see the same account
	successors  reconcile.Successors                // nil where names do not last, and in a look at one thing
	Ending      map[reconcile.Ref]bool              // sandboxes with an open terminate
	asked       map[reconcile.Ref]*reconcile.Action // of these, the ones that the provider accepted

	quarantine map[reconcile.Ref]*reconcile.Action // terminates that wait for a quarantine to end

	lastActive time.Time // newest activity of any running task
	actors     int       // running tasks whose workers should be doing something
	setBack    time.Time // how far the task database's clock had come when it was set back
	ageing     bool      // some class has a maximum age
	telling    bool      // the rules are to say why a healthy subject is healthy
}

// A Ruled is a rule with its settings.
type Ruled struct {
	*reconcile.Rule
	Policy reconcile.RulePolicy
}

// ActiveRules are the rules that a pass of this kind judges by, in the order of the table.
func ActiveRules(kind reconcile.PassKind, p *reconcile.Policy) []Ruled {
	active := make([]Ruled, 0, len(reconcile.Rules))
	for i := range reconcile.Rules {
		r := Ruled{&reconcile.Rules[i], p.Rules[reconcile.Rules[i].Name]}
		if r.Policy.Mode != reconcile.Off && r.Policy.Mode != "" && (kind == reconcile.Full || !r.FullOnly) {
			active = append(active, r)
		}
	}
	return active
}

// NewView makes the view of a snapshot under a policy.
func NewView(s *reconcile.Snapshot, p *reconcile.Policy) *View {
	s = snapshotOwn(s)
	v := &View{
		S: s, P: p, Now: s.Memory.Now,
		Live:        make(map[string]*reconcile.Task, len(s.Tasks)),
		sources:     map[string]reconcile.SourceSeen{},
		limit:       policyHeartbeatLimit(p),
		Ending:      map[reconcile.Ref]bool{},
		sameAccount: sameAccountOf(p.Providers),
	}
	for i := range s.Sandboxes {
		if s.Sandboxes[i].StableName {
			v.successors = snapshotSuccessors(s)
			break
		}
	}
	v.Rules = ActiveRules(s.Kind, p)
	v.setBack = v.clockSetBack()
	v.limit = max(v.limit, beatsMissed*s.Memory.Sources[reconcile.SourceEvents].Beat)
	v.seen = make([]seenTask, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		v.Live[t.ID] = t
		v.seen[i].TaskSeen, v.seen[i].known = s.Memory.Tasks[t.ID]
		v.markActivity(t, &v.seen[i])
		if t.State == reconcile.TaskRunning {
			v.running++
			v.newest = reconcile.Latest(v.newest, v.sign(t))
			v.lastActive = reconcile.Latest(v.lastActive, v.activity(t))
			if taskActing(t) {
				v.actors++
			}
		}
		if !taskHeartbeat(t).IsZero() {
			v.beats = true
		}
	}
	v.leave()
	oldest := p.Rules["over-age"]
	v.ageing = oldest.After > 0 || len(oldest.Overrides) > 0
	v.quarantine = v.quarantines()
	return v
}

// leave settles which sandboxes are on their way out by the ledger's open actions.
func (v *View) leave() {
	waiting := map[string]bool{} // remedies that nobody has begun
	for _, a := range v.S.Memory.Actions {
		if a.Seq == 0 && !a.Begun() {
			waiting[a.Remedy] = true
		}
	}
	v.asked = map[reconcile.Ref]*reconcile.Action{}
	stopping := v.stopping()
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		//guard:leaving-waits live
		if a.Step != reconcile.StepTerminate || waiting[a.Remedy] || a.InQuarantine() && stopping[a.Remedy] {
			continue
		}
		v.Ending[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = true
		if a.Outcome == reconcile.OutcomeAccepted {
			v.asked[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = a
		}
	}
}

// A seenTask is what the ledger remembered of a task before this pass.
type seenTask struct {
	reconcile.TaskSeen
	known bool
}

// policyHeartbeatLimit is how old a sign of life may be before the worker counts as silent. It is
// the threshold of heartbeat-lost, also while that rule is off.
func policyHeartbeatLimit(p *reconcile.Policy) time.Duration {
	if after := p.Rules["heartbeat-lost"].After; after > 0 {
		return after
	}
	return 90 * time.Second
}

// since is how long ago a moment of the ledger's clock was. It never reaches further back
// than the present watch: after a gap between passes the ledger's own clocks start again.
func (v *View) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	//guard:since-watch P6
	return v.Now.Sub(reconcile.Latest(t, v.S.Memory.WatchSince))
}

// observed is for how long all the sources have been watched without an outage.
func (v *View) observed(sources ...string) time.Duration {
	shortest := reconcile.Forever
	for _, name := range sources {
		//guard:observed-recovered P6
		if at := v.sources[name].RecoveredAt; !at.IsZero() {
			shortest = min(shortest, v.Now.Sub(at))
		}
	}
	return shortest
}

// freshSightings is the moment from which sightings that rest on the sources count.
func (v *View) freshSightings(sources ...string) time.Time {
	from := v.S.Memory.WatchSince
	for _, name := range sources {
		//guard:anew-recovered P6
		from = reconcile.Latest(from, v.sources[name].RecoveredAt)
	}
	return from
}

// stateAge is for how long the task has certainly been in its present state: by the
// column that records the entry, where there is one; else the longer of "unchanged since
// updated_at" and "in this status since the ledger first saw it".
func (v *View) stateAge(s *reconcile.Subject) (age time.Duration, by string) {
	t := s.Task
	//guard:state-clock P5
	//guard:state-stale P5
	if at, column := subjectEntry(s); !at.IsZero() && v.clockTrusted(column) && !v.stale(s, t.AsOf.Sub(at)) {
		return max(t.AsOf.Sub(at), 0), column
	}
	//guard:state-updated P5
	if !t.UpdatedAt.IsZero() && v.clockTrusted("updated_at") {
		age, by = t.AsOf.Sub(t.UpdatedAt), "updated_at"
	}
	if s.Known && s.Seen.Status == t.Status {
		if seen := v.since(s.Seen.Since); seen > age {
			age, by = seen, "ledger"
		}
	}
	return max(age, 0), by
}

// stale reports whether a column's age of the state is longer than it can be: the ledger saw
// the task in another state since. Between that look and the first one that saw the present
// state lies at most a gap between two passes.
func (v *View) stale(s *reconcile.Subject, age time.Duration) bool {
	if !s.Known || !s.Seen.FirstSeen.Before(s.Seen.Since) {
		return false
	}
	gap := max(v.P.Full, reconcile.UsualGap(&v.S.Memory))
	return age > v.Now.Sub(s.Seen.Since)+2*gap
}

// subjectEntry is the column that records the entry into the present state, zero when the row
// has none. A start time of an earlier attempt is none.
func subjectEntry(s *reconcile.Subject) (time.Time, string) {
	switch t := s.Task; t.State {
	case reconcile.TaskAssigned:
		return t.AssignedAt, "assigned_at"
	case reconcile.TaskRunning:
		if !t.StartedAt.Equal(s.Seen.StaleStart) {
			return t.StartedAt, "started_at"
		}
	}
	return time.Time{}, ""
}

func (v *View) clockTrusted(column string) bool {
	seen, known := v.sources[reconcile.ClockOf(column)]
	return !known || seen.Trusted
}

// sandboxAge is for how long the sandbox has certainly been in its present state: the longer
// of "no change of it since" by the provider and what the ledger saw.
func (v *View) sandboxAge(b reconcile.SeenSandbox) time.Duration {
	var age time.Duration
	changed := reconcile.Latest(b.UpdatedAt, b.CreatedAt)
	was := b.Known && (b.Seen.State != b.State || b.Seen.StateSince.After(b.Seen.FirstSeen))
	//guard:box-born harm
	if was || b.UpdatedAt.IsZero() && b.State != reconcile.SandboxCreating {
		changed = time.Time{} // it was in another state since it was made: nothing begins as failed
	}
	if !changed.IsZero() {
		age = b.AsOf.Sub(changed)
	}
	//guard:box-state harm
	if b.Known && b.Seen.State == b.State {
		age = max(age, v.since(b.Seen.StateSince))
	}
	return max(age, 0)
}

// born is how old the sandbox is, by the provider, else since the ledger first saw it.
func (v *View) born(b reconcile.SeenSandbox) time.Duration {
	if !b.CreatedAt.IsZero() {
		return b.AsOf.Sub(b.CreatedAt)
	}
	if b.Known {
		return v.since(b.Seen.FirstSeen)
	}
	return 0
}

// Candidates are the provider entries where the task's sandbox may be: none when the row
// names one that is not configured here, where nobody can look.
func (v *View) Candidates(t *reconcile.Task) []string {
	if t.Provider == "" {
		return v.P.ProviderNames()
	}
	if _, ok := v.P.Providers[t.Provider]; ok {
		return []string{t.Provider}
	}
	return nil
}

// taskSeenMoved reports whether the task entered its present state since the ledger last saw it: by
// another status, by another state of the same one, as when its user deleted it, or handed
// out again in the same one, which shows in its attempts, its session or its sandbox. A mere
// touch of the row is none of these.
func taskSeenMoved(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	//guard:moved-anew P5
	return s.Status != t.Status || s.State != t.State || s.Sandbox != t.Sandbox || s.EntrySum != t.EntrySum()
}

// perhapsEnded reports whether a write of ours has ended the state that the ledger saw, or may
// have: it was begun, nobody wrote down what became of it, and the row has changed since. Who went
// on with the task then has begun again.
func (v *View) perhapsEnded(seen *reconcile.TaskSeen, t *reconcile.Task) bool {
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

// entered is what the ledger remembers of a task once it has entered another state, or the
// same one again.
func (v *View) entered(seen reconcile.TaskSeen, t *reconcile.Task) reconcile.TaskSeen {
	if taskSeenEndedBadly(&seen, t) {
		seen.Attempts = turned(seen.Attempts, v.Now)
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
