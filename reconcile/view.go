package reconcile

import (
	"hash/fnv"
	"math"
	"strings"
	"time"
)

// forever is longer than anything that is measured.
const forever = time.Duration(math.MaxInt64)

// A view is a snapshot with what the whole fleet says about each subject: trust in the
// sources, links, pairs. It is made once a pass, and a second look shares it.
type view struct {
	s   *Snapshot
	p   *Policy
	now time.Time // the ledger's

	live    map[string]*Task
	seen    []seenTask // of the live tasks, in their order
	rules   []ruled    // those that are judged
	sources map[string]SourceSeen
	running int           // tasks in state running
	newest  time.Time     // newest life sign of any running task
	limit   time.Duration // heartbeat limit
	beats   bool          // some live task has sent a heartbeat
	pairs   map[Ref]string
	twins   map[string][]string // entries that may see the same account
	heirs   heirs               // nil where names do not last, and in a look at one thing
	ending  map[Ref]bool        // sandboxes with an open terminate
	asked   map[Ref]*Action     // of these, the ones that the provider accepted

	quarantine map[Ref]*Action // terminates that wait for a quarantine to end

	lastActive time.Time // newest activity of any running task
	actors     int       // running tasks whose workers should be doing something
	setBack    time.Time // how far the task database's clock had come when it was set back
	ageing     bool      // some class has a maximum age
	telling    bool      // the rules are to say why a healthy subject is healthy
}

func newView(s *Snapshot, p *Policy) *view {
	s = s.markable()
	v := &view{
		s: s, p: p, now: s.Memory.Now,
		live:    make(map[string]*Task, len(s.Tasks)),
		sources: map[string]SourceSeen{},
		limit:   p.heartbeatLimit(),
		ending:  map[Ref]bool{},
		twins:   twinsOf(p.Providers),
	}
	sortSandboxes(s)
	for i := range s.Sandboxes {
		if s.Sandboxes[i].Lasting {
			v.heirs = s.heirs()
			break
		}
	}
	v.rules = activeRules(s.Kind, p)
	v.setBack = v.clockSetBack()
	v.limit = max(v.limit, beatsMissed*s.Memory.Sources[sourceEvents].Beat)
	v.seen = make([]seenTask, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		v.live[t.ID] = t
		v.seen[i].TaskSeen, v.seen[i].known = s.Memory.Tasks[t.ID]
		v.markActivity(t, &v.seen[i])
		if t.State == TaskRunning {
			v.running++
			v.newest = latest(v.newest, v.sign(t))
			v.lastActive = latest(v.lastActive, v.activity(t))
			if t.acting() {
				v.actors++
			}
		}
		if !t.heartbeat().IsZero() {
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
func (v *view) leave() {
	waiting := map[string]bool{} // remedies that nobody has begun
	for _, a := range v.s.Memory.Actions {
		if a.Seq == 0 && !a.begun() {
			waiting[a.Remedy] = true
		}
	}
	v.asked = map[Ref]*Action{}
	stopping := v.stopping()
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		//guard:leaving-waits live
		if a.Step != StepTerminate || waiting[a.Remedy] || a.inQuarantine() && stopping[a.Remedy] {
			continue
		}
		v.ending[Ref{a.Provider, a.Sandbox}] = true
		if a.Outcome == OutcomeAccepted {
			v.asked[Ref{a.Provider, a.Sandbox}] = a
		}
	}
}

// A seenTask is what the ledger remembered of a task before this pass.
type seenTask struct {
	TaskSeen
	known bool
}

// begun reports whether somebody has ever claimed the action.
func (a *Action) begun() bool { return !a.ClaimedAt.IsZero() || a.Attempts > 0 }

// heartbeatLimit is how old a life sign may be before the worker counts as silent. It is
// the threshold of heartbeat-lost, also while that rule is off.
func (p *Policy) heartbeatLimit() time.Duration {
	if after := p.Rules["heartbeat-lost"].After; after > 0 {
		return after
	}
	return 90 * time.Second
}

// since is how long ago a moment of the ledger's clock was. It never reaches further back
// than the present watch: after a gap between passes the ledger's own clocks start anew.
func (v *view) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	//guard:since-watch P6
	return v.now.Sub(latest(t, v.s.Memory.WatchSince))
}

// observed is for how long all the sources have been watched without an outage.
func (v *view) observed(sources ...string) time.Duration {
	shortest := forever
	for _, name := range sources {
		//guard:observed-recovered P6
		if at := v.sources[name].RecoveredAt; !at.IsZero() {
			shortest = min(shortest, v.now.Sub(at))
		}
	}
	return shortest
}

// anew is the moment from which sightings that rest on the sources count.
func (v *view) anew(sources ...string) time.Time {
	from := v.s.Memory.WatchSince
	for _, name := range sources {
		//guard:anew-recovered P6
		from = latest(from, v.sources[name].RecoveredAt)
	}
	return from
}

// stateAge is for how long the task has certainly been in its present state: by the
// column that records the entry, where there is one; else the longer of "unchanged since
// updated_at" and "in this status since the ledger first saw it".
func (v *view) stateAge(s *Subject) (age time.Duration, by string) {
	t := s.Task
	//guard:state-clock P5
	//guard:state-stale P5
	if at, column := s.entry(); !at.IsZero() && v.clockTrusted(column) && !v.stale(s, t.AsOf.Sub(at)) {
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
func (v *view) stale(s *Subject, age time.Duration) bool {
	if !s.Known || !s.Seen.FirstSeen.Before(s.Seen.Since) {
		return false
	}
	gap := max(v.p.Full, UsualGap(&v.s.Memory))
	return age > v.now.Sub(s.Seen.Since)+2*gap
}

// entry is the column that records the entry into the present state, zero when the row
// has none. A start time of an earlier attempt is none.
func (s *Subject) entry() (time.Time, string) {
	switch t := s.Task; t.State {
	case TaskAssigned:
		return t.AssignedAt, "assigned_at"
	case TaskRunning:
		if !t.StartedAt.Equal(s.Seen.StaleStart) {
			return t.StartedAt, "started_at"
		}
	}
	return time.Time{}, ""
}

func (v *view) clockTrusted(column string) bool {
	seen, known := v.sources["clock:"+column]
	return !known || seen.Trusted
}

// boxAge is for how long the sandbox has certainly been in its present state: the longer
// of "no change of it since" by the provider and what the ledger saw.
func (v *view) boxAge(b Box) time.Duration {
	var age time.Duration
	changed := latest(b.UpdatedAt, b.CreatedAt)
	was := b.Known && (b.Seen.State != b.State || b.Seen.StateSince.After(b.Seen.FirstSeen))
	//guard:box-born harm
	if was || b.UpdatedAt.IsZero() && b.State != SandboxCreating {
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
func (v *view) born(b Box) time.Duration {
	if !b.CreatedAt.IsZero() {
		return b.AsOf.Sub(b.CreatedAt)
	}
	if b.Known {
		return v.since(b.Seen.FirstSeen)
	}
	return 0
}

// candidates are the provider entries where the task's sandbox may be: none when the row
// names one that is not configured here, where nobody can look.
func (v *view) candidates(t *Task) []string {
	if t.Provider == "" {
		return v.p.providerNames()
	}
	if _, ok := v.p.Providers[t.Provider]; ok {
		return []string{t.Provider}
	}
	return nil
}

// moved reports whether the task entered its present state since the ledger last saw it: by
// another status, by another state of the same one, as when its user deleted it, or handed
// out anew in the same one, which shows in its attempts, its session or its sandbox. A mere
// touch of the row is none of these.
func (s *TaskSeen) moved(t *Task) bool {
	//guard:moved-anew P5
	return s.Status != t.Status || s.State != t.State || s.Sandbox != t.Sandbox || s.EntrySum != t.entrySum()
}

// perhapsEnded reports whether a write of ours has ended the state that the ledger saw, or may
// have: it was begun, nobody wrote down what became of it, and the row has changed since. Who went
// on with the task then has begun anew.
func (v *view) perhapsEnded(seen *TaskSeen, t *Task) bool {
	if t.UpdatedAt.Equal(seen.UpdatedAt) {
		return false
	}
	for i := range v.s.Memory.Verdicts {
		//guard:ended-by-us P5
		if w := &v.s.Memory.Verdicts[i]; w.Task == t.ID && w.FailedAt.After(seen.Since) && !w.FailedAt.After(v.now) {
			return true
		}
	}
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; a.Task == t.ID && a.Step.onRow() && a.begun() {
			return true
		}
	}
	return false
}

// entrySum is what changes when the task is handed out anew: its attempts in the upper half,
// a hash of its session in the lower.
func (t *Task) entrySum() uint64 {
	return uint64(uint32(t.Attempts))<<32 | sum(t.Session)&(1<<32-1)
}

// entered is what the ledger remembers of a task once it has entered another state, or the
// same one anew.
func (v *view) entered(seen TaskSeen, t *Task) TaskSeen {
	if seen.endedBadly(t) {
		seen.Turns = turned(seen.Turns, v.now)
	}
	if seen.recreated(t) {
		seen.Recreated = v.now
	}
	//guard:entered-stale-start harm
	if !t.StartedAt.IsZero() && t.StartedAt.Equal(seen.StartedAt) && t.State != TaskRunning {
		seen.StaleStart = t.StartedAt
	}
	//guard:entered-since harm
	seen.Status, seen.State, seen.Since = t.Status, t.State, v.now
	seen.Sandbox, seen.EntrySum = t.Sandbox, t.entrySum()
	seen.ErrorChanged = false
	return seen
}

// sum is a hash of a text, to see that it changed without keeping it.
func sum(text string) uint64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// marked reports whether the error column ends with a mark of ours.
func marked(text string) bool {
	i := strings.LastIndex(text, "[sandkeeper ")
	return i >= 0 && strings.HasSuffix(strings.TrimSpace(text), "]")
}
