package run

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row makes a sandbox ours only where it may mean that one: another account may use the id for what
// is somebody else's.
func TestOwnedByRow(t *testing.T) {
	k := &Reconciler{Policy: reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"a": {Referenced: true}, "b": {Referenced: true}}}}
	at := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "b", ID: "s1"}, SandboxKey: "s1"}
	excepted := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "b", ID: "s1"}, SandboxKey: "s1", Excepted: true}
	labelled := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "b", ID: "s1"}, Task: "t1"}
	for name, test := range map[string]struct {
		row    reconcile.Task
		live   bool // the row is live, not one that was read by key
		box    reconcile.Sandbox
		memory string // the task that the ledger knows it by
		want   bool
	}{
		"a live row that says where":              {reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "b"}, true, at, "", true},
		"a live row that says nothing of it":      {reconcile.Task{ID: "t1", Sandbox: "s1"}, true, at, "", true},
		"a live row with a word of its own":       {reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "x"}, true, at, "", true},
		"a live row of another account":           {reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "a"}, true, at, "", false},
		"an ended row that says where":            {reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "b"}, false, at, "", true},
		"an ended row of another account":         {reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "a"}, false, at, "", false},
		"the ledger knows it":                     {reconcile.Task{ID: "t2", Sandbox: "s2"}, true, at, "t1", true},
		"a label with a live row's id":            {reconcile.Task{ID: "t1", Provider: "a"}, true, labelled, "", true},
		"a label with the id of one that ended":   {reconcile.Task{ID: "t1", Provider: "a"}, false, labelled, "", true},
		"a live row of one that is excepted":      {reconcile.Task{ID: "t1", Sandbox: "s1"}, true, excepted, "t1", false},
		"no row":                                  {reconcile.Task{ID: "t2", Sandbox: "s2"}, true, at, "", false},
		"a row that holds nothing, a box of none": {reconcile.Task{ID: "t2"}, true, reconcile.Sandbox{Ref: reconcile.Ref{Provider: "b", ID: "s1"}}, "", false},
	} {
		s := &reconcile.Snapshot{Sandboxes: []reconcile.Sandbox{test.box}, Listings: map[string]reconcile.ListingSeen{}, Rows: map[string]reconcile.Task{}, ByKey: map[reconcile.Ref]reconcile.Task{}}
		s.Memory.Sandboxes = map[reconcile.Ref]reconcile.SandboxSeen{test.box.Ref: {Task: test.memory}}
		if test.live {
			s.Tasks = []reconcile.Task{test.row}
		} else {
			s.Rows[test.row.ID], s.ByKey[k.Policy.Named(&test.row)] = test.row, test.row
		}
		k.own(s)
		if got := len(s.Sandboxes) == 1; got != test.want {
			t.Errorf("%s: ours is %t, want %t", name, got, test.want)
		}
	}
}
