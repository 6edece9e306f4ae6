package fleet

import (
	"iter"
	"slices"
)

// Pieces takes things of which nobody knows how many there are. A list that grows is copied over and over: of a large
// fleet that was a fifth of the time of a first pass, and a third of all that a full pass allocated.
type Pieces[T any] struct {
	full [][]T
	last []T
	n    int // in those that are full
}

// Room makes room for so many in all, in one piece.
func (p *Pieces[T]) Room(n int) {
	if n <= p.Len() {
		return
	}
	all := make([]T, 0, n)
	for piece := range p.each() {
		all = append(all, piece...)
	}
	*p = Pieces[T]{last: all}
}

// Add takes one more, and returns where it is until room is made or all are asked for.
func (p *Pieces[T]) Add(one *T) *T {
	const least, most = 16, 1024
	if len(p.last) == cap(p.last) {
		if len(p.last) > 0 {
			p.full, p.n = append(p.full, p.last), p.n+len(p.last)
		}
		p.last = make([]T, 0, min(max(p.n, least), most)) // few cost little: a piece is as long as all before it
	}
	p.last = append(p.last, *one)
	return &p.last[len(p.last)-1]
}

// Len is how many there are.
func (p *Pieces[T]) Len() int { return p.n + len(p.last) }

// Each are the places of all of them, in the order in which they came.
func (p *Pieces[T]) Each() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for piece := range p.each() {
			for i := range piece {
				if !yield(&piece[i]) {
					return
				}
			}
		}
	}
}

func (p *Pieces[T]) each() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for _, piece := range p.full {
			if !yield(piece) {
				return
			}
		}
		yield(p.last)
	}
}

// All are all of them as one list, in the order in which they came.
func (p *Pieces[T]) All() []T {
	if len(p.full) > 0 {
		*p = Pieces[T]{last: slices.Concat(append(p.full, p.last)...)}
	}
	return p.last
}
