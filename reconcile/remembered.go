package reconcile

import (
	"iter"
	"maps"
)

// Remembered is what the ledger remembers of many things of one kind, by key. There are as many as tasks and sandboxes
// are alive, and each is large: who goes over a fleet points at them, and makes no copies.
type Remembered[K comparable, V any] struct{ at map[K]*V }

// RememberedOf remembers what a map holds.
func RememberedOf[K comparable, V any](all map[K]V) (r Remembered[K, V]) {
	for k, v := range all {
		r.Put(k, v)
	}
	return r
}

// Put remembers one, instead of what was remembered under its key.
func (r *Remembered[K, V]) Put(k K, v V) {
	if r.at == nil {
		r.at = map[K]*V{}
	}
	r.at[k] = &v
}

// At is what is remembered, and nothing where it is not known. It is not to be written to.
func (r Remembered[K, V]) At(k K, nothing *V) (v *V, known bool) {
	if at := r.at[k]; at != nil {
		return at, true
	}
	return nothing, false
}

// Get is a copy of what is remembered.
func (r Remembered[K, V]) Get(k K) (v V, known bool) {
	if at := r.at[k]; at != nil {
		return *at, true
	}
	return v, false
}

// Of is a copy of what is remembered, the zero value when nothing is.
func (r Remembered[K, V]) Of(k K) V {
	v, _ := r.Get(k)
	return v
}

// Has reports whether something is remembered.
func (r Remembered[K, V]) Has(k K) bool { return r.at[k] != nil }

// Len is how many there are.
func (r Remembered[K, V]) Len() int { return len(r.at) }

// Each are all of them, in no order. None is to be written to.
func (r Remembered[K, V]) Each() iter.Seq2[K, *V] { return maps.All(r.at) }

// All are copies of all of them, in no order.
func (r Remembered[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, v := range r.at {
			if !yield(k, *v) {
				return
			}
		}
	}
}

// Keys are the keys of all of them, in no order.
func (r Remembered[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range r.at {
			if !yield(k) {
				return
			}
		}
	}
}
