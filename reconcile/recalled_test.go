package reconcile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"
)

// A copy is what it was, whatever is put into the other one, or dropped, and each holds what a map would.
func TestClone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	type copied struct {
		RememberedTasks
		want map[string]TaskSeen
	}
	now := copied{want: map[string]TaskSeen{}}
	var before []copied
	for turn := range 400 {
		places := map[string]place{}
		for id, kept := range now.Kept() {
			places[id] = kept.at
		}
		for range random.IntN(60) {
			id := fmt.Sprint("t", random.IntN(1200))
			if random.IntN(3) == 0 {
				now.Drop(id)
				delete(now.want, id)
				delete(places, id)
				continue
			}
			seen := TaskSeen{ID: id, Status: fmt.Sprint(turn), Live: true}
			if random.IntN(50) == 0 {
				seen.AheadSign = time.Unix(5, 0).UTC()
			}
			now.Put(id, seen)
			now.want[id] = seen
		}
		for id, at := range places {
			if kept, _ := now.At(id); kept == nil || kept.at != at {
				t.Fatalf("in turn %d %s has lost its place", turn, id)
			}
		}
		for _, is := range append(before, now) {
			same(t, is.RememberedTasks, is.want)
		}
		if before = append(before, now); len(before) > 3 {
			before = before[1:]
		}
		now = copied{now.Clone(), maps.Clone(now.want)}
	}
}

// same compares what is remembered with what a map holds.
func same(t *testing.T, is RememberedTasks, want map[string]TaskSeen) {
	t.Helper()
	if is.Len() != len(want) {
		t.Fatalf("%d are remembered, want %d", is.Len(), len(want))
	}
	n, at := 0, map[place]bool{}
	for id, kept := range is.Kept() {
		seen := kept.Seen()
		_, rare := is.Rare(id)
		if w := want[id]; seen.Status != w.Status || seen.ID != id || rare != !w.AheadSign.IsZero() || at[kept.at] {
			t.Fatalf("of %s is remembered %+v, rare: %t, at %d; want %+v", id, seen, rare, kept.at, w)
		}
		n, at[kept.at] = n+1, true
		if !is.Has(id) {
			t.Fatalf("%s is not found", id)
		}
	}
	if n != len(want) || is.Has("nobody") {
		t.Fatalf("%d are there, want %d", n, len(want))
	}
}
