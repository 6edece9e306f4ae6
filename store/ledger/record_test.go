package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestRecordIsReadOn: who reads on from where he was gets each line and each pass that ended once, in their order, in
// parts of any size.
func TestRecordIsReadOn(t *testing.T) {
	g := browsed(t)
	write := func(sql string) {
		t.Helper()
		if _, err := g.pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	begin, err := g.RecordEnd(t.Context())
	if err != nil || begin.Link == 0 || begin.Within != 9 || begin.Pass != 9 {
		t.Fatalf("the record ends at %+v, %v", begin, err)
	}
	if got, err := g.RecordAfter(t.Context(), begin, 9); err != nil || len(got) > 0 {
		t.Fatalf("after its end: %v, %v", got, err)
	}
	write(`INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		SELECT now(), 'task:1', 'state', 'a' || i FROM generate_series(1, 3) i`)
	write("INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, complete) VALUES ('quick', 'one', 1, now(), false)")
	write("INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'task:1', 'finding', 'b1')")
	for _, most := range []int{1, 2, 3, 50} {
		if diff := cmp.Diff([]string{"a1", "a2", "a3", "b1"}, readOn(t, g, begin, most)); diff != "" {
			t.Errorf("%d at a time, a pass is under way (-want +got):\n%s", most, diff)
		}
	}
	write("UPDATE sandkeeper.passes SET ended_at = now(), complete = true WHERE ended_at IS NULL")
	for _, most := range []int{1, 2, 3, 50} {
		if diff := cmp.Diff([]string{"a1", "a2", "a3", "b1", "pass"}, readOn(t, g, begin, most)); diff != "" {
			t.Errorf("%d at a time (-want +got):\n%s", most, diff)
		}
	}
	end, err := g.RecordEnd(t.Context())
	if err != nil || !end.Beyond(begin) || begin.Beyond(end) || end.Beyond(end) {
		t.Errorf("the record ends at %+v, %v", end, err)
	}
}

func readOn(t *testing.T, g *Ledger, from reconcile.RecordPlace, most int) (all []string) {
	t.Helper()
	for range 20 {
		part, err := g.RecordAfter(t.Context(), from, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			return all
		}
		for _, e := range part {
			what := e.What
			if e.Pass != nil {
				what = "pass"
			}
			all, from = append(all, what), e.Place
		}
	}
	t.Fatal("the record does not end")
	return nil
}
