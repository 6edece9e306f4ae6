package reconcile

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// What few have is found among few, whatever was put before, and by who had a copy of the memory.
func TestRare(t *testing.T) {
	ahead := TaskSeen{ID: "t1", Live: true, AheadSign: time.Unix(5, 0).UTC()}
	m := RememberedOf(map[string]TaskSeen{"t1": {ID: "t1"}, "t2": {ID: "t2", Live: true}})
	other := m
	if seen, rare := m.Rare("t1"); rare || seen.ID != "" {
		t.Errorf("a usual task is rare: %+v", seen)
	}
	m.Put("t1", ahead)
	if seen, rare := other.Rare("t1"); !rare || !seen.AheadSign.Equal(ahead.AheadSign) || other.Len() != 2 {
		t.Errorf("of %d the one with a sign ahead is %+v, rare %t", other.Len(), seen, rare)
	}
	live := 0
	for id, kept := range m.Kept() {
		if kept.Live() != m.Of(id).Live {
			t.Errorf("task %s is live: %t", id, kept.Live())
		}
		live++
	}
	m.Put("t1", TaskSeen{ID: "t1"})
	if _, rare := other.Rare("t1"); rare || live != 2 {
		t.Errorf("rare: %t, of %d", rare, live)
	}
}

// What is remembered under a key that is not its own is found by that key, and is what was put.
func TestRememberedUnderAnotherKey(t *testing.T) {
	m := Memory{}
	task, box := TaskSeen{ID: "t1", Live: true}, SandboxSeen{Ref: Ref{"lab", "s1"}, Task: "t1"}
	m.Tasks.Put("other", task)
	m.Sandboxes.Put(Ref{"lab", "other"}, box)
	m.Sandboxes.Put(Ref{"elsewhere", "s1"}, box)
	if got, known := m.Tasks.Get("other"); !known || !reflect.DeepEqual(got, task) || m.Tasks.Has("t1") {
		t.Errorf("the task is %+v, known %t", got, known)
	}
	for _, ref := range []Ref{{"lab", "other"}, {"elsewhere", "s1"}} {
		if got, known := m.Sandboxes.Get(ref); !known || got != box || m.Sandboxes.Has(box.Ref) {
			t.Errorf("the sandbox at %s is %+v, known %t", ref, got, known)
		}
	}
	if refs := slices.Collect(m.Sandboxes.Keys()); !slices.Equal(refs, []Ref{{"lab", "other"}, {"elsewhere", "s1"}}) {
		t.Errorf("they are remembered under %v", refs)
	}
	m.Sandboxes.Drop(Ref{"lab", "other"})
	if m.Sandboxes.Len() != 1 || m.Sandboxes.Has(Ref{"lab", "other"}) {
		t.Errorf("%d are left", m.Sandboxes.Len())
	}
}

// Kinds are the same whether they are made or taken from another one.
func TestShareKinds(t *testing.T) {
	many := map[string]string{}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		many[key] = "1"
	}
	labels := []map[string]string{nil, {}, {"app": "x"}, {"app": "x", "tier": "y"}, {"app": "y"}, {"app": ""},
		{"app": "x", "id": "s1"}, {"a": "b=c"}, {"a=b": "c"}, {"a": "b=c", "a=b": "c"}, {"app": "x\x00"}, {"app": "x", "tie": "y"}, many}
	for _, before := range labels {
		for _, now := range labels {
			of := (&Sandbox{Ref: Ref{ID: "s1"}, Labels: before}).KindsOf()
			s := &Sandbox{Ref: Ref{ID: "s1"}, Labels: now}
			if s.ShareKinds(of); !slices.Equal(s.Kinds, s.KindsOf()) {
				t.Errorf("labels %v after %v have kinds %q, want %q", now, before, s.Kinds, s.KindsOf())
			}
		}
	}
}

// TestRemembered: what is handed out as a copy is one, what is not known is nothing, and a box of it is never nil.
func TestRemembered(t *testing.T) {
	ref := Ref{"daytona", "s1"}
	m := &Memory{Sandboxes: RememberedOf(map[Ref]SandboxSeen{ref: {Ref: ref, Task: "t1"}})}
	seen, known := m.Sandboxes.Get(ref)
	seen.Task = "spoiled"
	for _, each := range m.Sandboxes.All() {
		each.Task = "spoiled"
	}
	if got := m.Sandboxes.Of(ref); !known || got.Task != "t1" || m.Sandboxes.Len() != 1 {
		t.Errorf("known %t, task %q of %d, want t1 of 1", known, got.Task, m.Sandboxes.Len())
	}
	b, other := Box(&Sandbox{Ref: ref}), Box(&Sandbox{Ref: Ref{"daytona", "s2"}})
	b.Remember(m)
	other.Remember(m)
	if !b.Known || b.Seen().Task != "t1" || other.Known || other.Seen() != (SandboxSeen{}) || b.Probes == nil {
		t.Errorf("boxes %+v and %+v, want one of t1 and one of nothing", b, other)
	}
	if b.Forget(); b.Known || b.Seen().Task != "" || !m.Sandboxes.Has(ref) {
		t.Errorf("box %+v, want it forgotten, and the memory as it was", b)
	}
	listed := b.Sandbox
	if b.Own().State = SandboxFailed; listed.State == SandboxFailed || b.State != SandboxFailed {
		t.Errorf("the listing says %q, the box %q: want its own to be written to", listed.State, b.State)
	}
}

// The task of a sandbox is found whether its place was noted or not, and where something else is remembered by now.
func TestTaskOf(t *testing.T) {
	var m Memory
	at := func(id string) *CompactSandbox {
		kept, _ := m.Sandboxes.At(Ref{"lab", id})
		return kept
	}
	m.Tasks.Put("t1", TaskSeen{ID: "t1"})
	m.Tasks.Put("t2", TaskSeen{ID: "t2"})
	m.RememberSandbox(&SandboxSeen{Ref: Ref{"lab", "s1"}, Task: "t1"})
	m.RememberSandbox(&SandboxSeen{Ref: Ref{"lab", "s3"}, Task: "t3"})
	m.Sandboxes.Put(Ref{"lab", "s2"}, SandboxSeen{Ref: Ref{"lab", "s2"}, Task: "t2"})
	m.Tasks.Put("t3", TaskSeen{ID: "t3"})
	for id, task := range map[string]string{"s1": "t1", "s2": "t2", "s3": "t3"} {
		if got := m.TaskOf(at(id)); got.Seen().ID != task || at(id).Task() != task || at(id).Gone() {
			t.Errorf("the task of %s is %q, want %s", id, got.Seen().ID, task)
		}
	}
	m.RememberSandbox(&SandboxSeen{Ref: Ref{"lab", "s1"}, Task: "t9", GoneAt: time.Unix(5, 0).UTC()})
	if got := m.TaskOf(at("s1")); got != nil || !at("s1").Gone() {
		t.Errorf("the task of s1 is %q, want none; it is gone: %t", got.Seen().ID, at("s1").Gone())
	}
	other := m
	other.Tasks = RememberedOf(map[string]TaskSeen{"t2": {ID: "t2"}})
	m.RememberSandbox(&SandboxSeen{Ref: Ref{"lab", "s1"}, Task: "t1"})
	if got := other.TaskOf(at("s1")); got != nil {
		t.Errorf("of another memory the task of s1 is %q, want none", got.Seen().ID)
	}
}
