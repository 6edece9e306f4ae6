package reconcile

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What a map holds, it holds: each key has the place at which it came, whatever came after, also where many keys fall on
// one slot of the table; and none that did not come has one.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, many := range []int{0, 1, 7, 8, 9, 503, 504, 505, 1016, 1017, 30_000} {
		var n numbers[Ref, keptKey, *keptKey]
		want := map[Ref]place{}
		for range many {
			k := Ref{"lab", fmt.Sprint("s", random.IntN(2*many))}
			at, known := n.add(k)
			if before, is := want[k]; is != known || is && before != at || !is && int(at) != len(want)+1 {
				t.Fatalf("%v is known: %t, at %d; want %d of %d", k, known, at, before, len(want))
			}
			n.kept.own(at).Ref = k
			want[k] = at
		}
		for i := range 2*many + 1 {
			k := Ref{"lab", fmt.Sprint("s", i)}
			at, _, _ := n.find(k)
			if at != want[k] || at != 0 && n.kept.of(at).Ref != k {
				t.Errorf("of %d, %v is at %d, want %d", many, k, at, want[k])
			}
		}
	}
}

// A keptKey is a thing that is nothing but its key.
type keptKey struct{ Ref }

func (c *keptKey) is(ref Ref) bool { return c.Ref == ref }

// Whatever is added stays where it is, and stands alone there.
func TestInARow(t *testing.T) {
	var r inARow[int]
	var at []*int
	for i := range 5000 {
		p := r.add()
		one := r.of(p)
		*one = i
		if at = append(at, one); int(p) != i+1 || r.len() != i+1 {
			t.Fatalf("number %d is at %d of %d", i, p, r.len())
		}
	}
	for i, one := range at {
		if *one != i || r.of(place(i+1)) != one {
			t.Errorf("number %d is %d", i, *one)
		}
	}
}
