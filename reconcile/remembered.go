package reconcile

import (
	"iter"
	"maps"
)

// Remembered is what the ledger remembers of many things of one kind, by key. There are as many as tasks and sandboxes
// are alive: each is kept compact, and made whole for who asks.
type Remembered[K comparable, V interface{ Compact() C }, C compacted[V]] struct {
	at   map[K]C
	rare map[K]C // of them, those that do not fit
}

// Compacted is what a thing is kept as.
type compacted[V any] interface {
	Seen() V
	isWhole() bool // it did not fit, and is kept as it is
	place() *place
}

// A place is the number of a thing among all that are remembered of its kind, from 1 on; 0 is none.
type place int

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
type RememberedTasks = Remembered[string, TaskSeen, *CompactTask]

// RememberedSandboxes are what is remembered of sandboxes.
type RememberedSandboxes = Remembered[Ref, SandboxSeen, *CompactSandbox]

// RememberedOf remembers what a map holds.
func RememberedOf[K comparable, V interface{ Compact() C }, C compacted[V]](all map[K]V) (r Remembered[K, V, C]) {
	for k, v := range all {
		r.Put(k, v)
	}
	return r
}

// Put remembers one, instead of what was remembered under its key.
func (r *Remembered[K, V, C]) Put(k K, v V) {
	if r.at == nil {
		r.at, r.rare = map[K]C{}, map[K]C{} // both at once: copies of it share them
	}
	kept := v.Compact()
	*kept.place() = place(len(r.at) + 1)
	if before, known := r.at[k]; known {
		*kept.place() = *before.place()
	}
	r.at[k] = kept
	delete(r.rare, k)
	if kept.isWhole() {
		r.rare[k] = kept
	}
}

// Rare is what is remembered, whole, of one that does not fit what most are kept as. Who asks for what few have, as a
// sign of life from the future, looks among few.
func (r Remembered[K, V, C]) Rare(k K) (v V, rare bool) {
	kept, rare := r.rare[k]
	if rare {
		v = kept.Seen()
	}
	return v, rare
}

// At is what is remembered, as it is kept: who holds it for long holds little.
func (r Remembered[K, V, C]) At(k K) (kept C, known bool) {
	kept, known = r.at[k]
	return kept, known
}

// Get is what is remembered, whole.
func (r Remembered[K, V, C]) Get(k K) (v V, known bool) {
	if kept, known := r.at[k]; known {
		return kept.Seen(), true
	}
	return v, false
}

// Of is what is remembered, whole, the zero value when nothing is.
func (r Remembered[K, V, C]) Of(k K) V {
	v, _ := r.Get(k)
	return v
}

// Has reports whether something is remembered.
func (r Remembered[K, V, C]) Has(k K) bool {
	_, known := r.at[k]
	return known
}

// Len is how many there are.
func (r Remembered[K, V, C]) Len() int { return len(r.at) }

// Kept are all of them as they are kept, in no order.
func (r Remembered[K, V, C]) Kept() iter.Seq2[K, C] { return maps.All(r.at) }

// Each are all of them, in no order. What is pointed at is another one in the next turn.
func (r Remembered[K, V, C]) Each() iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		var v V
		for k, kept := range r.at {
			if v = kept.Seen(); !yield(k, &v) {
				return
			}
		}
	}
}

// All are all of them, in no order.
func (r Remembered[K, V, C]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, kept := range r.at {
			if !yield(k, kept.Seen()) {
				return
			}
		}
	}
}

// Keys are the keys of all of them, in no order.
func (r Remembered[K, V, C]) Keys() iter.Seq[K] { return maps.Keys(r.at) }
