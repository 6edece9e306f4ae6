package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A row that a view gives twice from now on is noticed, although each of the two reads as it did.
func TestARowThatComesTwiceIsNoticed(t *testing.T) {
	m := reconcile.Memory{Now: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)}
	m.Tasks.Put("a", reconcile.TaskSeen{ID: "a", Live: true})
	was, _ := m.Tasks.At("a")
	st := &Standing{turn: 1, sums: make([]int64, reconcile.RowBuckets), rows: make([][]standing, reconcile.RowBuckets),
		pending: map[string]*standing{}}
	st.rows[3] = []standing{{id: "a", sum: 7, plain: true, at: was.Place(),
		until: reconcile.MomentOf(m.Now.Add(time.Hour))}}
	s := &Sieve{again: st, v: view.New(&reconcile.Snapshot{Memory: m}, &reconcile.Policy{}), others: map[string]onlyBox{}}
	twice := []reconcile.RowSum{{ID: "a", Bucket: 3, Sum: 7}, {ID: "a", Bucket: 3, Sum: 7}}
	if ids, ok := s.Pick(map[int]int64{3: 99}, twice); ok {
		t.Errorf("a row that is there twice stands, and %v are read", ids)
	}
}

// What stands goes by the places of one recall: a memory that was recalled otherwise has others.
func TestAMemoryOfAnotherRecallLetsNothingStand(t *testing.T) {
	recalled := (&reconcile.Recalled{}).Next(5)
	recalled.PutTask(reconcile.TaskSeen{ID: "a", Live: true})
	st := &Standing{}
	st.Recalled(recalled)
	for turn, want := range map[int64]bool{5: true, 4: false, 0: false} {
		s := &reconcile.Snapshot{Kind: reconcile.Quick}
		recalled.Into(&s.Memory)
		s.Memory.Turn = turn
		if is := NewSieveAgain(s, &reconcile.Policy{}, st) != nil; is != want {
			t.Errorf("rows stand by what was recalled in turn %d where turn 5 is known: %t, want %t", turn, is, want)
		}
	}
}
