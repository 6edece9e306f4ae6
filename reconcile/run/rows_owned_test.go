package run

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row makes a sandbox ours only where it may mean that one: another account may use the id for what
// is somebody else's.
func TestOwnedByRow(t *testing.T) {
	k := &Reconciler{Policy: reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"a": {Referenced: true}, "b": {Referenced: true}}}}
	noon := time.Unix(1_000_000, 0)
	made := func(sb reconcile.Sandbox, age time.Duration) reconcile.Sandbox {
		sb.Ref, sb.AsOf, sb.CreatedAt = reconcile.Ref{Provider: "b", ID: "s1"}, noon.Add(time.Hour), noon.Add(time.Hour-age)
		return sb
	}
	at := made(reconcile.Sandbox{SandboxKey: "s1"}, 2*time.Hour)
	excepted := made(reconcile.Sandbox{SandboxKey: "s1", Excepted: true}, 2*time.Hour)
	labelled := made(reconcile.Sandbox{Task: "t1"}, 2*time.Hour)
	keyedToo := made(reconcile.Sandbox{SandboxKey: "s1", Task: "t9"}, 2*time.Hour)
	renewed := made(reconcile.Sandbox{SandboxKey: "s1"}, time.Minute)
	ageless := reconcile.Sandbox{Ref: at.Ref, SandboxKey: "s1"}
	for name, test := range map[string]struct {
		row    reconcile.Task
		live   bool // the row is live, not one that was read by key
		box    reconcile.Sandbox
		memory string // the task that the ledger knows it by
		want   bool
		proven bool
		first  bool // no full pass was made before
	}{
		"a live row that says where":              {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "b"}, live: true, box: at, memory: "", want: true, proven: true},
		"a live row that says nothing of it":      {row: reconcile.Task{ID: "t1", Sandbox: "s1"}, live: true, box: at, memory: "", want: true, proven: true},
		"a live row with a word of its own":       {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "x"}, live: true, box: at, memory: "", want: true, proven: true},
		"a live row of another account":           {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "a"}, live: true, box: at, memory: "", want: false, proven: false},
		"a live row that is younger":              {row: reconcile.Task{ID: "t1", Sandbox: "s1", CreatedAt: noon}, live: true, box: at, memory: "", want: true, proven: false},
		"a live row of no known age":              {row: reconcile.Task{ID: "t1", Sandbox: "s1", CreatedAt: time.Unix(0, 0)}, live: true, box: ageless, memory: "", want: true, proven: false},
		"an ended row that says where":            {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "b", State: reconcile.TaskFailed}, live: false, box: at, memory: "", want: true, proven: false},
		"an ended row in the first pass":          {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "b", State: reconcile.TaskFailed}, box: at, want: true, proven: true, first: true},
		"a row of no known age in the first pass": {row: reconcile.Task{ID: "t1", Sandbox: "s1", CreatedAt: time.Unix(0, 0)}, live: true, box: ageless, want: true, proven: true, first: true},
		"a younger row in the first pass":         {row: reconcile.Task{ID: "t1", Sandbox: "s1", CreatedAt: noon}, live: true, box: at, want: true, first: true},
		"an ended row that a pass saw live":       {row: reconcile.Task{ID: "seen", Sandbox: "s1", State: reconcile.TaskFailed}, live: false, box: at, memory: "", want: true, proven: true},
		"an ended row of another account":         {row: reconcile.Task{ID: "t1", Sandbox: "s1", Provider: "a", State: reconcile.TaskFailed}, live: false, box: at, memory: "", want: false, proven: false},
		"the ledger knows it":                     {row: reconcile.Task{ID: "t2", Sandbox: "s2"}, live: true, box: at, memory: "t1", want: true, proven: true},
		"the ledger knows another of its id":      {row: reconcile.Task{ID: "t2", Sandbox: "s2"}, live: true, box: renewed, memory: "t1", want: false, proven: false},
		"a label with a live row's id":            {row: reconcile.Task{ID: "t1", Provider: "a"}, live: true, box: labelled, memory: "", want: true, proven: true},
		"a label with a younger live row's id":    {row: reconcile.Task{ID: "t1", CreatedAt: noon}, live: true, box: labelled, memory: "", want: true, proven: false},
		"a label with the id of one that ended":   {row: reconcile.Task{ID: "t1", Provider: "a", State: reconcile.TaskFailed}, live: false, box: labelled, memory: "", want: true, proven: false},
		"a label that says another than the row":  {row: reconcile.Task{ID: "t2", Sandbox: "s1"}, live: true, box: keyedToo, memory: "", want: true, proven: true},
		"a live row of one that is excepted":      {row: reconcile.Task{ID: "t1", Sandbox: "s1"}, live: true, box: excepted, memory: "t1", want: false, proven: false},
		"no row":                                  {row: reconcile.Task{ID: "t2", Sandbox: "s2"}, live: true, box: at, memory: "", want: false, proven: false},
		"a row that holds nothing, a box of none": {row: reconcile.Task{ID: "t2"}, live: true, box: reconcile.Sandbox{Ref: reconcile.Ref{Provider: "b", ID: "s1"}}, memory: "", want: false, proven: false},
	} {
		s := &reconcile.Snapshot{Sandboxes: []reconcile.Sandbox{test.box}, Listings: map[string]reconcile.ListingSeen{}, Rows: map[string]reconcile.Task{}, ByKey: map[reconcile.Ref]reconcile.Task{}}
		if s.Memory.LastFull = noon; test.first {
			s.Memory.LastFull = time.Time{}
		}
		s.Memory.Sandboxes = reconcile.RememberedOf(map[reconcile.Ref]reconcile.SandboxSeen{test.box.Ref: {Task: test.memory, CreatedAt: at.CreatedAt}})
		s.Memory.Tasks = reconcile.RememberedOf(map[string]reconcile.TaskSeen{"seen": {Named: "s1", FirstSeen: noon, Since: noon.Add(time.Minute)}})
		if test.row.AsOf = noon; test.row.CreatedAt.IsZero() {
			test.row.CreatedAt = noon.Add(-2 * time.Hour)
		}
		if test.live {
			s.Tasks = []reconcile.Task{test.row}
		} else {
			s.Rows[test.row.ID], s.ByKey[k.Policy.Named(&test.row)] = test.row, test.row
		}
		k.observer().own(s)
		if got := len(s.Sandboxes) == 1; got != test.want {
			t.Errorf("%s: ours is %t, want %t", name, got, test.want)
		} else if got && s.Sandboxes[0].Ours() != test.proven {
			t.Errorf("%s: proven is %t (%s), want %t", name, !test.proven, s.Sandboxes[0].Unproven, test.proven)
		}
	}
}
