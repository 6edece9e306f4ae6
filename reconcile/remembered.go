package reconcile

import (
	"iter"
	"maps"
	"math/bits"
)

// Remembered is what the ledger remembers of many things of one kind, by key. There are as many as tasks and sandboxes
// are alive: each is kept compact, one behind the other, and made whole for who asks.
type Remembered[K comparable, V interface{ Compact() C }, S any, C compacted[K, V, S]] struct {
	all *everyOne[K, V, S, C] // copies share it
}

// everyOne are those that are remembered, by place.
type everyOne[K comparable, V, S any, C compacted[K, V, S]] struct {
	numbers numbers[K, S, C] // one that was dropped has no place
	rare    map[K]bool       // of them, those that do not fit
	shared  bool             // those, with a copy
}

// Compacted is what a thing is kept as. It has the key under which it is remembered.
type compacted[K comparable, V, S any] interface {
	keyed[K, S]
	keep(k K, v V)
	key() K
	Seen() V
	isWhole() bool // it did not fit, and is kept as it is
	place() *place
}

// A place is the number of a thing among all that are remembered of its kind, from 1 on; 0 is none.
type place uint32

// marks are some of the things of one kind that are remembered, a bit for each place.
type marks []uint64

// set marks one that has a place.
func (m *marks) set(at place) {
	word := int(at) / 64
	if word >= len(*m) {
		*m = append(*m, make(marks, word+1-len(*m))...)
	}
	(*m)[word] |= 1 << (at % 64)
}

func (m marks) has(at place) bool {
	word := int(at) / 64
	return at != 0 && word < len(m) && m[word]&(1<<(at%64)) != 0
}

// RememberedTasks are what is remembered of tasks, by id.
type RememberedTasks = Remembered[string, TaskSeen, CompactTask, *CompactTask]

// RememberedSandboxes are what is remembered of sandboxes.
type RememberedSandboxes = Remembered[Ref, SandboxSeen, CompactSandbox, *CompactSandbox]

// RememberedOf remembers what a map holds.
func RememberedOf[K comparable, V interface{ Compact() C }, S any, C compacted[K, V, S]](all map[K]V,
) (r Remembered[K, V, S, C]) {
	for k, v := range all {
		r.Put(k, v)
	}
	return r
}

// Put remembers one, instead of what was remembered under its key: who holds that as it is kept holds the new one.
func (r *Remembered[K, V, S, C]) Put(k K, v V) { r.put(k, v) }

func (r *Remembered[K, V, S, C]) put(k K, v V) C {
	if r.all == nil {
		r.all = &everyOne[K, V, S, C]{rare: map[K]bool{}}
	}
	at, _ := r.all.numbers.add(k)
	kept := C(r.all.numbers.kept.own(at))
	kept.keep(k, v)
	*kept.place() = at
	r.all.mark(k, kept.isWhole())
	return kept
}

// mark notes whether one is rare.
func (e *everyOne[K, V, S, C]) mark(k K, rare bool) {
	if len(e.rare) == 0 && !rare || e.rare[k] == rare {
		return
	}
	if e.shared {
		e.rare, e.shared = maps.Clone(e.rare), false
	}
	if delete(e.rare, k); rare {
		e.rare[k] = true
	}
}

// Drop forgets one. Another one may have its place.
func (r *Remembered[K, V, S, C]) Drop(k K) {
	if r.all == nil {
		return
	}
	if r.all.numbers.drop(k) != 0 {
		r.all.mark(k, false)
	}
}

// Clone is a copy of its own: neither sees what is put into the other one, or dropped. Each thing keeps its place, and
// what is not written to is there once.
func (r Remembered[K, V, S, C]) Clone() Remembered[K, V, S, C] {
	if r.all == nil {
		return r
	}
	r.all.shared = true
	return Remembered[K, V, S, C]{&everyOne[K, V, S, C]{r.all.numbers.clone(), r.all.rare, true}}
}

// Rare is what is remembered, whole, of one that does not fit what most are kept as. Who asks for what few have, as a
// sign of life from the future, looks among few.
func (r Remembered[K, V, S, C]) Rare(k K) (v V, rare bool) {
	if r.all == nil || !r.all.rare[k] {
		return v, false
	}
	return r.Get(k)
}

// At is what is remembered, as it is kept: who holds it for long holds little.
func (r Remembered[K, V, S, C]) At(k K) (kept C, known bool) {
	if r.all == nil {
		return nil, false
	}
	if at, _, _ := r.all.numbers.find(k); at != 0 {
		return r.all.numbers.kept.of(at), true
	}
	return nil, false
}

// Get is what is remembered, whole.
func (r Remembered[K, V, S, C]) Get(k K) (v V, known bool) {
	if kept, known := r.At(k); known {
		return kept.Seen(), true
	}
	return v, false
}

// Of is what is remembered, whole, the zero value when nothing is.
func (r Remembered[K, V, S, C]) Of(k K) V {
	v, _ := r.Get(k)
	return v
}

// Has reports whether something is remembered.
func (r Remembered[K, V, S, C]) Has(k K) bool {
	_, known := r.At(k)
	return known
}

// Len is how many there are.
func (r Remembered[K, V, S, C]) Len() int {
	if r.all == nil {
		return 0
	}
	return r.all.numbers.kept.len() - len(r.all.numbers.free)
}

func (r Remembered[K, V, S, C]) last() place {
	if r.all == nil {
		return 0
	}
	return r.all.numbers.kept.last
}

// keyAt is the key of the one at a place; the zero value where it was dropped.
func (r Remembered[K, V, S, C]) keyAt(at place) (k K) {
	if kept := C(r.all.numbers.kept.of(at)); *kept.place() != 0 {
		k = kept.key()
	}
	return k
}

// Kept are all of them as they are kept, in the order of their places: where none was dropped, that in which they came.
func (r Remembered[K, V, S, C]) Kept() iter.Seq2[K, C] {
	return func(yield func(K, C) bool) {
		for at := place(1); at <= r.last(); at++ {
			kept := C(r.all.numbers.kept.of(at))
			if *kept.place() != 0 && !yield(kept.key(), kept) {
				return
			}
		}
	}
}

// keptBut are those that are not marked, likewise: of a large fleet nearly all are, and nobody looks at these.
func (r Remembered[K, V, S, C]) keptBut(but marks) iter.Seq2[K, C] {
	return func(yield func(K, C) bool) {
		for word := range int(r.last())/64 + 1 {
			others := ^uint64(0)
			if word < len(but) {
				others = ^but[word]
			}
			for ; others != 0; others &= others - 1 {
				at := place(64*word + bits.TrailingZeros64(others)) //nolint:gosec // as many as there are
				if at == 0 || at > r.last() {
					continue
				}
				kept := C(r.all.numbers.kept.of(at))
				if *kept.place() != 0 && !yield(kept.key(), kept) {
					return
				}
			}
		}
	}
}

// Each are all of them, in that order. What is pointed at is another one in the next turn.
func (r Remembered[K, V, S, C]) Each() iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		var v V
		for k, kept := range r.Kept() {
			if v = kept.Seen(); !yield(k, &v) {
				return
			}
		}
	}
}

// All are all of them, in that order.
func (r Remembered[K, V, S, C]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, kept := range r.Kept() {
			if !yield(k, kept.Seen()) {
				return
			}
		}
	}
}

// Keys are the keys of all of them, in that order.
func (r Remembered[K, V, S, C]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range r.Kept() {
			if !yield(k) {
				return
			}
		}
	}
}

// TaskNotes are what is noted of each task that is remembered.
type TaskNotes[T any] struct{ of []T }

// NoteTasks makes room for a note of each. It is for a memory that is not changed meanwhile.
func NoteTasks[T any](tasks RememberedTasks) TaskNotes[T] {
	return TaskNotes[T]{make([]T, tasks.last())}
}

// Of is where the note of a task stands.
func (n TaskNotes[T]) Of(was *CompactTask) *T { return &n.of[was.at-1] }
