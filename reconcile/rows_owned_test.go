package reconcile

import (
	"testing"
)

// A row makes a sandbox ours only where it may mean that one: another account may use the id for what
// is somebody else's.
func TestOwnedByRow(t *testing.T) {
	k := &Keeper{Policy: Policy{Providers: map[string]ProviderPolicy{"a": {Referenced: true}, "b": {Referenced: true}}}}
	at := Sandbox{Ref: Ref{"b", "s1"}, SandboxKey: "s1"}
	excepted := Sandbox{Ref: Ref{"b", "s1"}, SandboxKey: "s1", Excepted: true}
	labelled := Sandbox{Ref: Ref{"b", "s1"}, Task: "t1"}
	for name, test := range map[string]struct {
		row    Task
		live   bool // the row is live, not one that was read by key
		box    Sandbox
		memory string // the task that the ledger knows it by
		want   bool
	}{
		"a live row that says where":              {Task{ID: "t1", Sandbox: "s1", Provider: "b"}, true, at, "", true},
		"a live row that says nothing of it":      {Task{ID: "t1", Sandbox: "s1"}, true, at, "", true},
		"a live row with a word of its own":       {Task{ID: "t1", Sandbox: "s1", Provider: "x"}, true, at, "", true},
		"a live row of another account":           {Task{ID: "t1", Sandbox: "s1", Provider: "a"}, true, at, "", false},
		"an ended row that says where":            {Task{ID: "t1", Sandbox: "s1", Provider: "b"}, false, at, "", true},
		"an ended row of another account":         {Task{ID: "t1", Sandbox: "s1", Provider: "a"}, false, at, "", false},
		"the ledger knows it":                     {Task{ID: "t2", Sandbox: "s2"}, true, at, "t1", true},
		"a label with a live row's id":            {Task{ID: "t1", Provider: "a"}, true, labelled, "", true},
		"a label with the id of one that ended":   {Task{ID: "t1", Provider: "a"}, false, labelled, "", true},
		"a live row of one that is excepted":      {Task{ID: "t1", Sandbox: "s1"}, true, excepted, "t1", false},
		"no row":                                  {Task{ID: "t2", Sandbox: "s2"}, true, at, "", false},
		"a row that holds nothing, a box of none": {Task{ID: "t2"}, true, Sandbox{Ref: Ref{"b", "s1"}}, "", false},
	} {
		s := &Snapshot{Sandboxes: []Sandbox{test.box}, Listings: map[string]ListingSeen{}, Rows: map[string]Task{}, ByKey: map[Ref]Task{}}
		s.Memory.Sandboxes = map[Ref]SandboxSeen{test.box.Ref: {Task: test.memory}}
		if test.live {
			s.Tasks = []Task{test.row}
		} else {
			s.Rows[test.row.ID], s.ByKey[k.Policy.named(&test.row)] = test.row, test.row
		}
		k.own(s)
		if got := len(s.Sandboxes) == 1; got != test.want {
			t.Errorf("%s: ours is %t, want %t", name, got, test.want)
		}
	}
}
