package reconcile

import (
	"iter"
	"maps"
	"math/bits"
	"reflect"
)

// Recalled is what one process has recalled of tasks and sandboxes, and goes on from: the next recall puts into it what
// has changed since. Whoever holds the memory of a turn before sees nothing of that.
type Recalled struct {
	Tasks     RememberedTasks
	Sandboxes RememberedSandboxes
	Probes    map[Ref]ProbeSeen

	Turn  int64 // of the recall, from 1 on; no other recall of its process has it
	Since int64 // the turn of the recall that its changes are since; 0 where everything was read

	// The places of tasks of which something else was remembered a turn before, and of those of whose sandboxes, or
	// that had none.
	tasks, boxes marks

	lives bool // others are live

	own, ownProbes bool // what it holds is not of a turn before
}

// Next is what the recall of that turn puts its changes into.
func (r *Recalled) Next(turn int64) *Recalled {
	return &Recalled{Tasks: r.Tasks, Sandboxes: r.Sandboxes, Probes: r.Probes, Turn: turn, Since: r.Turn}
}

// Into hands a memory what is recalled.
func (r *Recalled) Into(m *Memory) {
	m.Tasks, m.Sandboxes, m.Probes, m.Turn = r.Tasks, r.Sandboxes, r.Probes, r.Turn
}

// LivesChanged reports whether other tasks are remembered as live than a turn before.
func (r *Recalled) LivesChanged() bool { return r.lives }

// write makes what it holds its own.
func (r *Recalled) write() {
	if !r.own {
		r.own, r.Tasks, r.Sandboxes = true, r.Tasks.Clone(), r.Sandboxes.Clone()
	}
}

// PutTask takes what is remembered of a task, and returns where.
func (r *Recalled) PutTask(seen TaskSeen) PlaceOf {
	was, known := r.Tasks.At(seen.ID)
	if known && reflect.DeepEqual(was.Seen(), seen) {
		return PlaceOf{was.at}
	}
	r.lives = r.lives || !known || was.Live() != seen.Live
	r.write()
	at := r.Tasks.put(seen.ID, seen).at
	if r.tasks.set(at); !known {
		r.boxes.set(at) // it may have sandboxes, and another one may have had its place
	}
	return PlaceOf{at}
}

// DropTask takes that nothing is remembered of a task any more.
func (r *Recalled) DropTask(at PlaceOf) {
	r.write()
	r.lives = true
	r.tasks.set(at.place)
	r.Tasks.Drop(r.Tasks.keyAt(at.place))
}

// PutSandbox takes what is remembered of a sandbox, and what its probes come to; nil where it was never probed. What is
// remembered of tasks is put before, so that each has its place. It returns where the sandbox is.
func (r *Recalled) PutSandbox(seen SandboxSeen, probes *ProbeSeen) PlaceOf {
	was, known := r.Sandboxes.At(seen.Ref)
	before, probed := r.Probes[seen.Ref]
	same := probed == (probes != nil) && (!probed || reflect.DeepEqual(before, *probes))
	if known && same && was.Seen() == seen {
		return PlaceOf{was.at}
	}
	if !same {
		r.putProbes(seen.Ref, probes)
	}
	r.change(was.Seen().Task)
	r.change(seen.Task)
	r.write()
	m := Memory{Tasks: r.Tasks, Sandboxes: r.Sandboxes}
	at := m.RememberSandbox(&seen).at
	r.Sandboxes = m.Sandboxes
	return PlaceOf{at}
}

// DropSandbox takes that nothing is remembered of a sandbox any more.
func (r *Recalled) DropSandbox(at PlaceOf) {
	r.write()
	ref := r.Sandboxes.keyAt(at.place)
	r.change(r.Sandboxes.Of(ref).Task)
	r.Sandboxes.Drop(ref)
	if _, probed := r.Probes[ref]; probed {
		r.putProbes(ref, nil)
	}
}

func (r *Recalled) putProbes(ref Ref, probes *ProbeSeen) {
	if !r.ownProbes {
		r.ownProbes, r.Probes = true, maps.Clone(r.Probes)
	}
	if r.Probes == nil {
		r.Probes = map[Ref]ProbeSeen{}
	}
	if delete(r.Probes, ref); probes != nil {
		r.Probes[ref] = *probes
	}
}

// change marks a task of whose sandboxes something else is remembered.
func (r *Recalled) change(task string) {
	if was, known := r.Tasks.At(task); known {
		r.boxes.set(was.at)
	}
}

// Changed reports whether a task that is remembered is told to be remembered otherwise, or one of its sandboxes.
func (r *Recalled) Changed(was *CompactTask) bool {
	return was != nil && (r.tasks.has(was.at) || r.boxes.has(was.at))
}

// Places are remembered tasks, by what the ledger has of them: the zero value is none.
type Places struct{ marks }

// Mark adds a task.
func (p *Places) Mark(was *CompactTask) {
	if was != nil {
		p.set(was.at)
	}
}

// MarkChanged adds the tasks of which something else is remembered, or only those of whose sandboxes.
func (p *Places) MarkChanged(r *Recalled, ofBoxes bool) {
	p.join(r.boxes)
	if !ofBoxes {
		p.join(r.tasks)
	}
}

// each are the places of those that are marked.
func (m marks) each() iter.Seq[place] {
	return func(yield func(place) bool) {
		for i, word := range m {
			for ; word != 0; word &= word - 1 {
				if !yield(place(64*i + bits.TrailingZeros64(word))) { //nolint:gosec // they were places
					return
				}
			}
		}
	}
}

// join marks what another one has.
func (m *marks) join(other marks) {
	if n := len(other) - len(*m); n > 0 {
		*m = append(*m, make(marks, n)...)
	}
	for i, word := range other {
		(*m)[i] |= word
	}
}

// A PlaceOf is where a task is among all that are remembered, as long as it is; 0 is nowhere.
type PlaceOf struct{ place }

// Place is where the task is.
func (c *CompactTask) Place() PlaceOf {
	if c == nil {
		return PlaceOf{}
	}
	return PlaceOf{c.at}
}

// Place is where the sandbox is among all that are remembered.
func (c *CompactSandbox) Place() PlaceOf { return PlaceOf{c.at} }

// Has reports whether a task at that place is one of them.
func (p *Places) Has(at PlaceOf) bool { return p.has(at.place) }

// OnlyBoxes are the one sandbox of each remembered task, by the task's place.
type OnlyBoxes struct{ of []place }

// several is where a task has more than one, or one that is gone.
const several = ^place(0)

// Find finds them anew for the tasks at those places.
func (o *OnlyBoxes) Find(m *Memory, changed *Places) {
	if n := int(m.Tasks.last()) + 1 - len(o.of); n > 0 {
		o.of = append(o.of, make([]place, n)...)
	}
	some := false
	for at := range changed.each() {
		if int(at) < len(o.of) {
			o.of[at], some = 0, true
		}
	}
	if !some {
		return
	}
	for _, kept := range m.Sandboxes.Kept() {
		task := m.TaskOf(kept)
		switch {
		case task == nil || !changed.has(task.at):
		case o.of[task.at] != 0 || kept.Gone():
			o.of[task.at] = several
		default:
			o.of[task.at] = kept.at
		}
	}
}

// Of is that of a task; nil where it has none or several.
func (o *OnlyBoxes) Of(m *Memory, was *CompactTask) *CompactSandbox {
	if was == nil || int(was.at) >= len(o.of) || o.of[was.at] == 0 || o.of[was.at] == several {
		return nil
	}
	return m.Sandboxes.all.numbers.kept.of(o.of[was.at])
}

// AddAt counts a row by where its task is remembered, with its one sandbox.
func (p *Plain) AddAt(at PlaceOf, only *OnlyBoxes) {
	p.Tasks++
	p.rows.set(at.place)
	p.unlisted.set(only.of[at.place])
}
