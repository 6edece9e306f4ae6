package reconcile

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// numbers gives keys their places, from 1 on, in the order in which they come, and again where one was dropped. It is
// a map for as many as there are tasks alive: its table has 8 bytes for a number and grows without a look at any key,
// so that much of it stays in the processor's cache, and the things stand one behind the other. Each has its key in
// itself.
type numbers[K comparable, S any, C keyed[K, S]] struct {
	table  []number // by hash; at least a quarter of it is free
	shared bool     // the table, with a copy
	kept   inARow[S]
	free   []place // of things that were dropped
}

// Keyed is a thing that has its key in itself.
type keyed[K comparable, S any] interface {
	*S
	is(k K) bool
}

// A number is the place of a key whose hash it is; 0 is free.
type number struct {
	hash uint32
	at   place
}

// hashes are alike in all of this process: what is put in alike is the same.
var hashes = maphash.MakeSeed()

// find is the place of a key, 0 where it has none, with its hash, and where in the table it is, or would be.
func (n *numbers[K, S, C]) find(k K) (at place, hash uint32, slot int) {
	if len(n.table) == 0 {
		return 0, 0, 0
	}
	hash = uint32(maphash.Comparable(hashes, k) >> 32)
	for slot = n.slot(int(hash)); n.table[slot].at != 0; slot = n.slot(slot + 1) {
		if is := n.table[slot]; is.hash == hash && C(n.kept.of(is.at)).is(k) {
			return is.at, hash, slot
		}
	}
	return 0, hash, slot
}

func (n *numbers[K, S, C]) slot(of int) int { return of & (len(n.table) - 1) }

// add is the place of a key, which is given one if it has none. Then the thing that is put there is to have that key.
func (n *numbers[K, S, C]) add(k K) (at place, known bool) {
	if 4*(n.kept.len()+1) > 3*len(n.table) {
		n.grow()
	}
	at, hash, slot := n.find(k)
	if at != 0 {
		return at, true
	}
	if last := len(n.free) - 1; last >= 0 {
		at, n.free = n.free[last], n.free[:last]
	} else {
		at = n.kept.add()
	}
	n.own()
	n.table[slot] = number{hash, at}
	return at, false
}

// drop takes a key its place, which another one may be given; 0 where it has none. What stands behind it in the table
// moves up, so that it is found.
func (n *numbers[K, S, C]) drop(k K) place {
	at, _, slot := n.find(k)
	if at == 0 {
		return 0
	}
	n.own()
	for next := n.slot(slot + 1); n.table[next].at != 0; next = n.slot(next + 1) {
		if is := n.table[next]; n.slot(next-int(is.hash)) >= n.slot(next-slot) {
			n.table[slot], slot = is, next
		}
	}
	n.table[slot] = number{}
	var none S
	*n.kept.own(at) = none
	n.free = append(n.free, at)
	return at
}

// own makes the table its own.
func (n *numbers[K, S, C]) own() {
	if n.shared {
		n.table, n.shared = slices.Clone(n.table), false
	}
}

// clone is a copy: neither sees what is written to the other one.
func (n *numbers[K, S, C]) clone() numbers[K, S, C] {
	n.shared = true
	return numbers[K, S, C]{n.table, true, n.kept.clone(), slices.Clone(n.free)}
}

func (n *numbers[K, S, C]) grow() {
	before := n.table
	n.table, n.shared = make([]number, max(2*len(before), 16)), false
	for _, is := range before {
		if is.at == 0 {
			continue
		}
		slot := n.slot(int(is.hash))
		for n.table[slot].at != 0 {
			slot = n.slot(slot + 1)
		}
		n.table[slot] = is
	}
}

// inARow are things that stand one behind the other in the order of their places, and stay where they are: in pieces,
// of which each of the first is twice as long as the one before. Copies share the pieces until one is written to.
type inARow[T any] struct {
	pieces [][]T
	shared []bool // by piece
	last   place
}

const (
	firstPiece = 8
	longer     = 6                            // pieces that are shorter than the others
	usualPiece = firstPiece << longer         // how long those are
	ofShorter  = firstPiece * (1<<longer - 1) // things in the shorter ones
)

func (r *inARow[T]) len() int { return int(r.last) }

// add makes room for one more.
func (r *inARow[T]) add() place {
	r.last++
	if piece, _ := r.where(r.last); piece == len(r.pieces) {
		r.pieces = append(r.pieces, make([]T, firstPiece<<min(piece, longer)))
		r.shared = append(r.shared, false)
	}
	return r.last
}

func (r *inARow[T]) of(p place) *T {
	piece, within := r.where(p)
	return &r.pieces[piece][within]
}

// own is the same for who writes to it.
func (r *inARow[T]) own(p place) *T {
	piece, within := r.where(p)
	if r.shared[piece] {
		r.pieces[piece], r.shared[piece] = slices.Clone(r.pieces[piece]), false
	}
	return &r.pieces[piece][within]
}

// clone is a copy: neither sees what is written to the other one.
func (r *inARow[T]) clone() inARow[T] {
	for i := range r.shared {
		r.shared[i] = true
	}
	return inARow[T]{slices.Clone(r.pieces), slices.Clone(r.shared), r.last}
}

func (*inARow[T]) where(p place) (piece, within int) {
	nth := int(p) - 1
	if nth >= ofShorter {
		return longer + (nth-ofShorter)/usualPiece, (nth - ofShorter) % usualPiece
	}
	piece = bits.Len(uint(p-1)/firstPiece+1) - 1
	return piece, nth - firstPiece*(1<<piece-1)
}
