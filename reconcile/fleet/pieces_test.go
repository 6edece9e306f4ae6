package fleet_test

import (
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
)

// TestPieces: however many there are, for however many room is made and whenever, all are there in their order.
func TestPieces(t *testing.T) {
	for _, expected := range []int{0, 3, 2000} {
		for _, n := range []int{0, 1, 3, 4, 1023, 1024, 1025, 5000} {
			for _, when := range []int{0, 2, 1024, 3000} {
				var p fleet.Pieces[int]
				for i := range n {
					if i == when {
						p.Room(expected)
					}
					if at := p.Add(&i); *at != i || p.Len() != i+1 {
						t.Fatalf("number %d of %d is %d of %d", i, n, *at, p.Len())
					}
				}
				places := make([]int, 0, n)
				for at := range p.Each() {
					places = append(places, *at)
				}
				if all := p.All(); !slices.Equal(all, reconcile.Indices(n)) || !slices.Equal(places, all) {
					t.Errorf("%d, room for %d at %d: got %d, by their places %d", n, expected, when, len(all), len(places))
				}
			}
		}
	}
}

// TestPiecesRoom: what room was made for stays where it is.
func TestPiecesRoom(t *testing.T) {
	var p fleet.Pieces[int]
	for i := range 1500 {
		p.Add(&i)
	}
	p.Room(4000)
	first := &p.All()[0]
	for i := range 2500 {
		p.Add(&i)
	}
	if all := p.All(); len(all) != 4000 || &all[0] != first {
		t.Errorf("%d are at another place than room was made", len(all))
	}
}
