package reconcile

import (
	"time"
	"unique"
)

// What the ledger remembers of a fleet is kept in a third of the memory: a moment is a number, and what many have in
// common is there once. Who asks for it gets it whole, as it was put, to the last bit. What does not fit, as a task
// with a history of attempts, is kept as it is.

// A CompactTask is a [TaskSeen] as it is kept. Nil is a task of which nothing is remembered.
type CompactTask struct {
	id, sandbox                                    string
	common                                         unique.Handle[commonTask]
	since, firstSeen, updatedAt, startedAt, beatAt Moment
	entrySum, errorSum                             uint64
	beatGap                                        time.Duration
	whole                                          *TaskSeen // where it does not fit
	at                                             place
}

// A commonTask is what many tasks have in common.
type commonTask struct {
	status, tenant     string
	state              TaskState
	errorChanged, live bool
}

// Compact is how it is kept.
func (s TaskSeen) Compact() *CompactTask {
	c := &CompactTask{}
	c.Keep(s)
	return c
}

// Keep makes it what is kept of one.
func (c *CompactTask) Keep(s TaskSeen) { c.keep(s.ID, s) }

// keep keeps one under an id. It is its own, else it does not fit.
func (c *CompactTask) keep(id string, s TaskSeen) {
	*c = CompactTask{
		id: id, sandbox: s.Sandbox,
		common: unique.Make(commonTask{s.Status, s.Tenant, s.State, s.ErrorChanged, s.Live}),
		since:  MomentOf(s.Since), firstSeen: MomentOf(s.FirstSeen), updatedAt: MomentOf(s.UpdatedAt),
		startedAt: MomentOf(s.StartedAt), beatAt: MomentOf(s.BeatAt),
		entrySum: s.EntrySum, errorSum: s.ErrorSum, beatGap: s.BeatGap,
	}
	again := c.Seen()
	times := [...]time.Time{s.Since, s.FirstSeen, s.UpdatedAt, s.StartedAt, s.BeatAt}
	fits := times == [...]time.Time{again.Since, again.FirstSeen, again.UpdatedAt, again.StartedAt, again.BeatAt}
	rare := [...]time.Time{s.StaleStart, s.AheadSign, s.AheadSince, s.Recreated, s.LateSign, s.MarkAt}
	if !fits || s.ID != id || rare != [len(rare)]time.Time{} ||
		s.Named != s.Sandbox || s.Trace != "" || s.Attempts != nil || s.MarkSum != 0 {
		whole := s // a copy only here: else each that is compacted would be allocated whole as well
		*c = CompactTask{id: id, whole: &whole}
	}
}

func (c *CompactTask) isWhole() bool     { return c.whole != nil }
func (c *CompactTask) place() *place     { return &c.at }
func (c *CompactTask) key() string       { return c.id }
func (c *CompactTask) is(id string) bool { return c.id == id }

// texts are the ids of the task and of its sandbox.
func (c *CompactTask) texts() (id, sandbox string) {
	if c.whole != nil {
		return c.whole.ID, c.whole.Sandbox
	}
	return c.id, c.sandbox
}

// ID is the task's.
func (c *CompactTask) ID() string {
	id, _ := c.texts()
	return id
}

// Live is whether the task was live.
func (c *CompactTask) Live() bool {
	if c.whole != nil {
		return c.whole.Live
	}
	return c.common.Value().live
}

// Tenant is whose it is; "" when not known.
func (c *CompactTask) Tenant() string {
	if c.whole != nil {
		return c.whole.Tenant
	}
	return c.common.Value().tenant
}

// Seen is what was put.
func (c *CompactTask) Seen() TaskSeen {
	if c == nil {
		return TaskSeen{}
	}
	if c.whole != nil {
		return *c.whole
	}
	common := c.common.Value()
	return TaskSeen{
		ID: c.id, Sandbox: c.sandbox, Named: c.sandbox,
		Status: common.status, State: common.state, Tenant: common.tenant,
		ErrorChanged: common.errorChanged, Live: common.live,
		Since: c.since.Time(), FirstSeen: c.firstSeen.Time(), UpdatedAt: c.updatedAt.Time(),
		StartedAt: c.startedAt.Time(), BeatAt: c.beatAt.Time(), BeatGap: c.beatGap,
		EntrySum: c.entrySum, ErrorSum: c.errorSum,
	}
}

// A CompactSandbox is a [SandboxSeen] as it is kept. Nil is a sandbox of which nothing is remembered.
type CompactSandbox struct {
	id, name, task                                                       string
	common                                                               unique.Handle[commonSandbox]
	createdAt, firstSeen, stateSince, resumedAt, workedAt, ranAt, goneAt Moment
	whole                                                                *SandboxSeen // where it does not fit
	at                                                                   place
	of                                                                   place // of its task, where that was noted
}

// A commonSandbox is what many sandboxes have in common.
type commonSandbox struct {
	provider, template, raw, region string
	state                           SandboxState
	size                            Size
	goneByUs                        bool
}

// Compact is how it is kept.
func (s SandboxSeen) Compact() *CompactSandbox {
	c := &CompactSandbox{}
	c.Keep(s)
	return c
}

// Keep makes it what is kept of one.
func (c *CompactSandbox) Keep(s SandboxSeen) { c.keep(s.Ref, s) }

// keep keeps one under a reference, likewise.
func (c *CompactSandbox) keep(ref Ref, s SandboxSeen) {
	*c = CompactSandbox{
		id: ref.ID, name: s.Name, task: s.Task,
		common:    unique.Make(commonSandbox{ref.Provider, s.Template, s.Raw, s.Region, s.State, s.Size, s.GoneByUs}),
		createdAt: MomentOf(s.CreatedAt), firstSeen: MomentOf(s.FirstSeen), stateSince: MomentOf(s.StateSince),
		resumedAt: MomentOf(s.ResumedAt), workedAt: MomentOf(s.WorkedAt), ranAt: MomentOf(s.RanAt),
		goneAt: MomentOf(s.GoneAt),
	}
	if c.Seen() != s {
		whole := s
		*c = CompactSandbox{id: ref.ID, common: unique.Make(commonSandbox{provider: ref.Provider}), whole: &whole}
	}
}

func (c *CompactSandbox) isWhole() bool { return c.whole != nil }
func (c *CompactSandbox) place() *place { return &c.at }
func (c *CompactSandbox) key() Ref      { return Ref{c.common.Value().provider, c.id} }

func (c *CompactSandbox) is(ref Ref) bool {
	return c.id == ref.ID && c.common.Value().provider == ref.Provider
}

// Task is the id of its task.
func (c *CompactSandbox) Task() string {
	if c.whole != nil {
		return c.whole.Task
	}
	return c.task
}

// State is its state.
func (c *CompactSandbox) State() SandboxState {
	if c.whole != nil {
		return c.whole.State
	}
	return c.common.Value().state
}

// Gone is whether it was gone.
func (c *CompactSandbox) Gone() bool {
	if c.whole != nil {
		return !c.whole.GoneAt.IsZero()
	}
	return c.goneAt != never
}

// Seen is what was put.
func (c *CompactSandbox) Seen() SandboxSeen {
	if c == nil {
		return SandboxSeen{}
	}
	if c.whole != nil {
		return *c.whole
	}
	common := c.common.Value()
	return SandboxSeen{
		Ref: Ref{common.provider, c.id}, Name: c.name, Task: c.task,
		Template: common.template, Raw: common.raw, Region: common.region, State: common.state,
		Size: common.size, GoneByUs: common.goneByUs,
		CreatedAt: c.createdAt.Time(), FirstSeen: c.firstSeen.Time(), StateSince: c.stateSince.Time(),
		ResumedAt: c.resumedAt.Time(), WorkedAt: c.workedAt.Time(), RanAt: c.ranAt.Time(), GoneAt: c.goneAt.Time(),
	}
}

// A Moment is a time in nanoseconds since 1970, of those years that the number holds; it is UTC.
type Moment int64

const never Moment = -1 << 63 // the zero time

// MomentOf is a time as a number.
func MomentOf(t time.Time) Moment {
	if t.IsZero() {
		return never
	}
	return Moment(t.UnixNano())
}

// Time is the time again.
func (m Moment) Time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// ShareTexts lets the row have the texts of what is remembered of its task, where they are the same: a fleet has many,
// and one copy does for both.
func (t *Task) ShareTexts(m *Memory) {
	if kept, known := m.Tasks.At(t.ID); known {
		id, sandbox := kept.texts()
		t.ID = id
		oneCopy(sandbox, &t.Sandbox)
	}
}

// ShareTexts lets the sandbox have the texts of what is remembered of it, as a row does.
func (s *Sandbox) ShareTexts(m *Memory) {
	seen, known := m.Sandboxes.Get(s.Ref)
	if !known {
		return
	}
	s.Ref = seen.Ref
	for _, text := range [...]string{seen.ID, seen.Name, seen.Task} {
		oneCopy(text, &s.Name, &s.Task, &s.SandboxKey, &s.AltKey)
	}
}

// ShareTexts lets what is remembered of a sandbox have the id of the task that is remembered as well.
func (s *SandboxSeen) ShareTexts(m *Memory) {
	if kept, known := m.Tasks.At(s.Task); known {
		s.Task, _ = kept.texts()
	}
}

// RememberSandbox remembers a sandbox, whose task is remembered already if it is at all: the text of its id is there
// once, and where the task is found is noted.
func (m *Memory) RememberSandbox(s *SandboxSeen) *CompactSandbox {
	kept, known := m.Tasks.At(s.Task)
	if known {
		s.Task, _ = kept.texts()
	}
	box := m.Sandboxes.put(s.Ref, *s)
	if known {
		box.of = kept.at
	}
	return box
}

// TaskOf is what is remembered of a remembered sandbox's task, nil where nothing is.
func (m *Memory) TaskOf(was *CompactSandbox) *CompactTask {
	task := was.Task()
	if was.of != 0 && was.of <= m.Tasks.last() {
		kept := m.Tasks.all.numbers.kept.of(was.of)
		if id, _ := kept.texts(); kept.at != 0 && id == task {
			return kept
		}
	}
	kept, _ := m.Tasks.At(task)
	return kept
}

// oneCopy lets those texts that are the same be one.
func oneCopy(text string, with ...*string) {
	for _, other := range with {
		if *other == text {
			*other = text
		}
	}
}
