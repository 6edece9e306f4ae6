package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A further table is asked in each pass, and once more right before a sandbox is ended.
func TestFurtherTables(t *testing.T) {
	for name, test := range map[string]struct {
		further [][]string
		amid    [][]string // what the tables hold once the plan is made; nil: the same
		ended   bool
	}{
		"no row explains it":                   {further: [][]string{{"8"}, {"other"}}, ended: true},
		"a row holds its label's value":        {further: [][]string{{"7"}, {}}},
		"a row holds its id":                   {further: [][]string{{}, {"sb-spec"}}},
		"the value is another table's":         {further: [][]string{{"sb-spec"}, {"7"}}, ended: true},
		"a row comes right before it is ended": {further: [][]string{{}, {}}, amid: [][]string{{"7"}, {}}},
		"a row goes right before it is ended":  {further: [][]string{{"7"}, {}}, amid: [][]string{{}, {}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				s.policy.Tasks.ExplainedBy = []reconcile.Explanation{{Table: "specs", Label: "spec"}, {Table: "warm"}}
				s.table.explain(test.further...)
				s.cloud.Put(simulated.Sandbox{ID: "sb-spec", CreatedAt: ago(time.Hour), Labels: map[string]string{"app": "ours", "spec": "7"}})
				s.watch(2)
				if test.amid != nil {
					l.before = before("Record", func() { s.table.explain(test.amid...) })
				}
				if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
					t.Fatal(err)
				}
				if ended := len(s.deletes()) == 1; ended != test.ended {
					t.Errorf("ended: %q, want it ended: %v", s.deletes(), test.ended)
				}
			})
		})
	}
}

// A further table that cannot be read explains whatever it may hold, and stops nothing else.
func TestFurtherTableIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, "orphan")
		s.policy.Tasks.ExplainedBy = []reconcile.Explanation{{Table: "specs"}}
		s.watch(2)
		if _, err := s.keeper("one", &life{}).Once(t.Context(), reconcile.Full, time.Second); err != nil {
			t.Fatal(err)
		}
		if ended := s.deletes(); len(ended) > 0 {
			t.Errorf("ended: %q, want what a table that cannot be read may explain left", ended)
		}
	})
}
