package reconcile

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// Named is the row that says what the sandbox is for, of those that were read by key.
func (s *Snapshot) Named(sb *Sandbox) (row Task, ok bool) {
	for _, key := range sb.Keys() {
		for _, at := range [...]string{sb.Provider, ""} {
			if t, read := s.ByKey[Ref{at, key}]; read && (!ok || t.Before(&row)) {
				row, ok = t, true
			}
		}
	}
	return row, ok
}

// A Snapshot is everything that a pass observed, and what the ledger remembered. It is
// data: judging it twice gives the same bytes.
type Snapshot struct {
	Kind   PassKind
	Pushed []Ref     // a provider gave a reason to look at these; what it said of them is not in here
	T0     time.Time // task database's now, read before the first listing
	Clock  TaskClock
	Memory Memory

	Tasks      []Task          // the live set, read after the listings ended, but for the plain rows
	Plain      Plain           // rows of the live set that were read and not kept, with the sandboxes of a listing
	Rows       map[string]Task // rows read by key: that left the live set, or that explain a sandbox
	Absent     map[string]bool // ids that were asked for by key and have no row
	Unparsable map[string]bool // ids that cannot be ids of this table
	Explained  map[Ref]string  // sandboxes that a row of a further table explains: of which
	Unlooked   map[string]bool // subjects that wanted a direct look, and whose turn it was not
	ByKey      map[Ref]Task    // rows read by their sandbox column, by the value and the entry that they mean, "" for none

	Listings  map[string]ListingSeen // by provider entry; empty in a quick pass
	Sandboxes []Sandbox              // the owned ones that were listed or found
	Strays    []Sandbox              // listed ones that no row names, where rows alone say whose one is, and names last
	Lookups   map[Ref]Lookup         // sandboxes that were got by id
	Finds     map[string]FindLookup  // tasks whose sandboxes were searched by link, by task id
	Templates []Template             // those configured and used
	Quotas    map[string][]Quota     // by provider entry; absent where they could not be measured
	Clocks    *Clocks                // by provider entry; nil where nobody measures them

	Whole     bool // every sandbox that the ledger remembers was listed; false when that was not weighed
	Inventory bool // what the ledger remembers stands for listings, see [Snapshot.TakeInventory]
}

// Plain are live rows that a pass of a large fleet counts and does not keep: their tasks run, they are as the ledger
// has them or it has never seen them, and no rule has anything to say of them. What is judged by all tasks is judged by
// them as well. In a full pass each has one sandbox, which runs and is listed, and that is as the ledger has it or new,
// too.
type Plain struct {
	Tasks                int           // how many
	AsOf                 time.Time     // the task database's now when they were read
	Newest, Active, Made time.Time     // the newest sign of life, activity and row of them
	Actors               int           // of them, those whose workers should be doing something
	Beats                bool          // some has sent a heartbeat, after its start
	Clocks               [9]int        // how many hold a time, by column, as taskClocks has them
	BeatGap              time.Duration // the longest interval between heartbeats that some has kept to

	Sandboxes int                 // how many: in a full pass one of each
	At        map[string]*PlainAt // by provider entry

	Heard []*CompactTask    // what is to be remembered of those that are new, or whose workers gave a sign
	Fresh []*CompactSandbox // what is to be remembered of the sandboxes that are new

	rows, boxes marks // of what is remembered

	// Of a pass by what has changed: the sandboxes of the rows, each of which is there and the only one of its task.
	unlisted marks
}

// Add counts a row. Was is what is remembered of it, nil where nothing is.
func (p *Plain) Add(was *CompactTask) {
	p.Tasks++
	if was != nil {
		p.rows.set(was.at)
	}
}

// Room makes room for all rows of which something is remembered, and their sandboxes: what grows is copied.
func (p *Plain) Room(m *Memory) {
	p.rows, p.unlisted = make(marks, m.Tasks.last()/64+1), make(marks, m.Sandboxes.last()/64+1)
}

// AddSandbox counts a sandbox likewise.
func (p *Plain) AddSandbox(was *CompactSandbox) {
	p.Sandboxes++
	if was != nil {
		p.boxes.set(was.at)
	}
}

// Has reports whether what is remembered is of one of the rows.
func (p *Plain) Has(was *CompactTask) bool { return was != nil && p.rows.has(was.at) }

// HasSandbox reports whether what is remembered is of one of the sandboxes.
func (p *Plain) HasSandbox(was *CompactSandbox) bool { return was != nil && p.boxes.has(was.at) }

// EachSandbox is what is remembered of each of the sandboxes, or is to be.
func (p *Plain) EachSandbox(m *Memory) iter.Seq[*CompactSandbox] {
	return func(yield func(*CompactSandbox) bool) {
		if p.Sandboxes == 0 {
			return
		}
		for _, was := range m.Sandboxes.Kept() {
			if p.HasSandbox(was) && !yield(was) {
				return
			}
		}
		for _, was := range p.Fresh {
			if !yield(was) {
				return
			}
		}
	}
}

// OtherTasks are the tasks that are remembered and are of no plain row.
func (s *Snapshot) OtherTasks() iter.Seq2[string, *CompactTask] {
	return s.Memory.Tasks.keptBut(s.Plain.rows)
}

// OtherSandboxes are those that are remembered: in a pass by what has changed without those that are the only one of a
// plain row.
func (s *Snapshot) OtherSandboxes() iter.Seq2[Ref, *CompactSandbox] {
	return s.Memory.Sandboxes.keptBut(s.Plain.unlisted)
}

// PlainAt is what the sandboxes of plain rows at one provider come to.
type PlainAt struct {
	Sandboxes, Seconds int                  // how many, and how old they are together
	Aged               []int                // how many are at most as old as each of [AgeBounds]
	Templates          map[string]time.Time // when the newest of each was made
}

// Lists reports whether the sandbox was listed, found or got in this pass. Sandboxes are
// kept in order of provider and id.
func (s *Snapshot) Lists(ref Ref) bool {
	_, listed := s.Place(ref)
	if was, known := s.Memory.Sandboxes.At(ref); known && s.Plain.HasSandbox(was) {
		return true
	}
	return listed
}

// Add puts a sandbox in its place, if it is not there yet.
func (s *Snapshot) Add(sb Sandbox) {
	if at, listed := s.Place(sb.Ref); !listed {
		s.Sandboxes = slices.Insert(s.Sandboxes, at, sb)
	}
}

// Drop takes a sandbox out, as if nothing had shown it.
func (s *Snapshot) Drop(ref Ref) {
	if at, listed := s.Place(ref); listed {
		s.Sandboxes = slices.Delete(s.Sandboxes, at, at+1)
	}
}

// Place is where the sandbox stands, or would stand. It compares in place: a sandbox is too
// large to be handed around thousands of times.
func (s *Snapshot) Place(ref Ref) (int, bool) {
	at := sort.Search(len(s.Sandboxes), func(i int) bool { return CompareRefs(s.Sandboxes[i].Ref, ref) >= 0 })
	return at, at < len(s.Sandboxes) && s.Sandboxes[at].Ref == ref
}

// SortSandboxes brings them into order. Most are already: providers list by creation, and a
// second look adds each in its place.
func SortSandboxes(s *Snapshot) {
	if !InOrder(s) {
		slices.SortStableFunc(s.Sandboxes, func(a, b Sandbox) int { return CompareRefs(a.Ref, b.Ref) })
	}
}

// InOrder reports whether its sandboxes are in order. It compares in place, see [Snapshot.Place].
func InOrder(s *Snapshot) bool {
	for i := 1; i < len(s.Sandboxes); i++ {
		if CompareRefs(s.Sandboxes[i-1].Ref, s.Sandboxes[i].Ref) > 0 {
			return false
		}
	}
	return true
}

// Weigh settles whether the pass saw every sandbox that the ledger remembers, as most passes
// do: then nobody needs to be looked for.
func (s *Snapshot) Weigh() {
	known := s.Plain.Sandboxes - len(s.Plain.Fresh)
	for i := range s.Sandboxes {
		if ok := s.Memory.Sandboxes.Has(s.Sandboxes[i].Ref); ok {
			known++
		}
	}
	s.Whole = known == s.Memory.Sandboxes.Len()
}

// ListingSeen is one provider's listing with what speaks for and against it.
type ListingSeen struct {
	Listing
	Error       string // the listing failed
	Refused     bool   // because the credential was
	CircuitOpen bool   // it was not asked for, because the credential was refused a moment ago
	Owned       int
	Foreign     int
	Calls       int           // that it took
	Took        time.Duration // by this process's clock
}

// A Lookup is what a direct get by id said.
type Lookup struct {
	Sandbox Sandbox // when found
	Gone    bool    // the provider knows no such sandbox
	Error   string  // neither: nothing is known

	Listed bool   // a listing of this pass had shown it as well
	Death  *Death // the provider's own record of its end; nil where there is none, or it is not over
}

// Over reports whether the look showed that nothing runs there any more.
func (l *Lookup) Over() bool {
	switch {
	case l.Error != "":
		return false
	case l.Gone:
		return true
	}
	state := l.Sandbox.State
	return state == SandboxEnded || state == SandboxStopped || state == SandboxFailed
}

// A FindLookup is what a search by link said.
type FindLookup struct {
	Sandboxes []Sandbox
	Error     string   // some provider did not answer: nothing is known
	Asked     []string // provider entries that answered
}

// A Subject is a linked group: a task with its sandboxes, or a sandbox without a task.
type Subject struct {
	ID        string       // "task:ID" or "sandbox:PROVIDER/ID"
	Task      *Task        // the row, live or terminal; nil when none is known
	Was       *CompactTask // what the ledger remembers, as this pass finds it, see [Subject.Seen]; nil of what is new
	Known     bool         // the ledger has seen the task before
	Boxes     []SeenSandbox
	LinkState LinkState // why there is no live task
}

// Seen is what the ledger remembers of the task, as this pass finds it; zero of what is new.
func (s *Subject) Seen() TaskSeen { return s.Was.Seen() }

// LinkState says why a sandbox's task is not live.
type LinkState string

// The fates of the row that a sandbox names.
const (
	LinkLive       LinkState = ""           // there is a live task
	LinkEnded      LinkState = "ended"      // the row is terminal
	LinkExplained  LinkState = "explained"  // a row outside `where`, or with an unmapped status
	LinkVanished   LinkState = "vanished"   // the ledger knew the task, the table does not
	LinkUnknown    LinkState = "unknown"    // names a task that nobody has ever known
	LinkUnparsable LinkState = "unparsable" // names something that is no id of this table
	LinkUnnamed    LinkState = "unnamed"    // names no task, and no row names it
	LinkUnread     LinkState = "unread"     // its row was not read: nothing is known
)

// Template is what the subject's sandbox is made from, "" when nobody says.
func (s *Subject) Template() string {
	if s.Task != nil && s.Task.Template != "" {
		return s.Task.Template
	}
	for _, b := range s.Boxes {
		if name := FirstOf(b.Template, b.Seen().Template); name != "" {
			return name
		}
	}
	return ""
}

// Provider is where the subject is, by its sandbox or by its row; "" when nothing says so.
func (s *Subject) Provider() string {
	switch {
	case len(s.Boxes) > 0:
		return s.Boxes[0].Provider
	case s.Task != nil:
		return s.Task.Provider
	}
	return ""
}

// AddOwned adds one that a look found and no listing showed, if it is ours.
func (s *Snapshot) AddOwned(sb Sandbox) {
	//guard:look-owned P1
	if sb.Owned {
		s.Add(sb)
	}
}

// TakeInventory puts the sandboxes that the ledger knows in the place of listed ones. They
// say who may belong together; nothing is ended on their word.
func (s *Snapshot) TakeInventory(p *Policy) {
	refs := slices.SortedFunc(s.Memory.Sandboxes.Keys(), CompareRefs) // sandboxes are too large to be sorted
	s.Sandboxes, s.Inventory = slices.Grow(s.Sandboxes, len(refs)), true
	for _, ref := range refs {
		seen := s.Memory.Sandboxes.Of(ref)
		entry, ours := p.Providers[ref.Provider]
		if !seen.GoneAt.IsZero() || !ours {
			continue
		}
		sb := Sandbox{Ref: ref, Name: seen.Name, Raw: seen.Raw, State: seen.State, Template: seen.Template,
			Task: seen.Task, CreatedAt: seen.CreatedAt, AsOf: s.Memory.Now, Owned: true}
		if entry.SandboxIsID {
			sb.SandboxKey = ref.ID
		}
		s.Sandboxes = append(s.Sandboxes, sb)
	}
	SortSandboxes(s)
}

// RecallTemplates shows a quick pass the templates as the last full one left them, so that
// a task that fails between two full passes is told the cause as well.
func (s *Snapshot) RecallTemplates() {
	refs := make([]Ref, 0, len(s.Memory.Templates))
	for ref := range s.Memory.Templates {
		refs = append(refs, ref)
	}
	SortRefs(refs)
	for _, ref := range refs {
		seen := s.Memory.Templates[ref]
		s.Templates = append(s.Templates, Template{Provider: ref.Provider, Name: ref.ID, Raw: seen.Raw, State: seen.State,
			Error: seen.Error, LastUsed: seen.LastUsed, ExpiresAt: seen.ExpiresAt, AsOf: seen.LookedAt})
	}
}

// HasBox reports whether one of its sandboxes is so.
func (s *Subject) HasBox(is func(*SeenSandbox) bool) bool {
	for i := range s.Boxes {
		if is(&s.Boxes[i]) {
			return true
		}
	}
	return false
}
