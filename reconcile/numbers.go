package reconcile

import (
	"hash/maphash"
	"math/bits"
)

// numbers gives keys their places, from 1 on, in the order in which they come. It is a map for as many as there are
// tasks alive: its table has 8 bytes for a number and grows without a look at any key, so that much of it stays in the
// processor's cache, and the keys stand one behind the other.
type numbers[K comparable] struct {
	table []number // by hash; at least a quarter of it is free
	keys  inARow[K]
}

// A number is the place of a key whose hash it is; 0 is free.
type number struct {
	hash uint32
	at   place
}

// hashes are alike in all of this process: what is put in alike is the same.
var hashes = maphash.MakeSeed()

// find is the place of a key, 0 where it has none, with its hash, and where in the table it is, or would be.
func (n *numbers[K]) find(k K) (at place, hash uint32, slot int) {
	if len(n.table) == 0 {
		return 0, 0, 0
	}
	hash = uint32(maphash.Comparable(hashes, k) >> 32)
	for slot = n.slot(int(hash)); n.table[slot].at != 0; slot = n.slot(slot + 1) {
		if is := n.table[slot]; is.hash == hash && *n.keys.of(is.at) == k {
			return is.at, hash, slot
		}
	}
	return 0, hash, slot
}

func (n *numbers[K]) slot(of int) int { return of & (len(n.table) - 1) }

// add is the place of a key, which is given one if it has none.
func (n *numbers[K]) add(k K) (at place, known bool) {
	if 4*(n.keys.len()+1) > 3*len(n.table) {
		n.grow()
	}
	at, hash, slot := n.find(k)
	if at != 0 {
		return at, true
	}
	at, key := n.keys.add()
	*key = k
	n.table[slot] = number{hash, at}
	return at, false
}

func (n *numbers[K]) grow() {
	before := n.table
	n.table = make([]number, max(2*len(before), 16))
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
// of which each of the first is twice as long as the one before.
type inARow[T any] struct {
	pieces [][]T
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
func (r *inARow[T]) add() (place, *T) {
	r.last++
	piece, within := r.where(r.last)
	if piece == len(r.pieces) {
		r.pieces = append(r.pieces, make([]T, firstPiece<<min(piece, longer)))
	}
	return r.last, &r.pieces[piece][within]
}

func (r *inARow[T]) of(p place) *T {
	piece, within := r.where(p)
	return &r.pieces[piece][within]
}

func (*inARow[T]) where(p place) (piece, within int) {
	nth := int(p) - 1
	if nth >= ofShorter {
		return longer + (nth-ofShorter)/usualPiece, (nth - ofShorter) % usualPiece
	}
	piece = bits.Len(uint(p-1)/firstPiece+1) - 1
	return piece, nth - firstPiece*(1<<piece-1)
}
