package tasks

import (
	"strconv"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHeap: however many rows there are, and however many were expected, all are there in their order.
func TestHeap(t *testing.T) {
	for _, expected := range []int{0, 3, 2000} {
		for _, n := range []int{0, 1, 3, 4, 1023, 1024, 1025, 5000} {
			h := heap{last: make([]reconcile.Task, 0, expected)}
			for i := range n {
				h.add(reconcile.Task{ID: strconv.Itoa(i)})
			}
			all := h.all()
			if len(all) != n {
				t.Fatalf("%d rows, %d expected: got %d", n, expected, len(all))
			}
			for i := range all {
				if all[i].ID != strconv.Itoa(i) {
					t.Fatalf("%d rows, %d expected: row %d is %s", n, expected, i, all[i].ID)
				}
			}
		}
	}
}
