package reconcile

import (
	"strings"
	"testing"
	"unsafe"
)

// What is remembered and what is seen now have one copy of a text, and what differs stays what it is.
func TestTextsAreShared(t *testing.T) {
	copyOf := strings.Clone
	same := func(a, b string) bool { return a == b && unsafe.StringData(a) == unsafe.StringData(b) }
	var m Memory
	ref := Ref{"daytona", "s1"}
	m.Tasks.Put("t1", TaskSeen{ID: "t1", Sandbox: "s1"})
	remembered := SandboxSeen{Ref: ref, Name: "name", Task: copyOf("t1")}
	remembered.ShareTexts(&m)
	m.Sandboxes.Put(ref, remembered)
	seen, task := m.Sandboxes.Of(ref), m.Tasks.Of("t1")

	row := Task{ID: copyOf("t1"), Sandbox: copyOf("s1")}
	row.ShareTexts(&m)
	box := Sandbox{Ref: Ref{copyOf("daytona"), copyOf("s1")}, Name: copyOf("name"), Task: copyOf("t1"),
		SandboxKey: copyOf("s1"), AltKey: copyOf("name")}
	box.ShareTexts(&m)
	for _, pair := range [...][2]string{
		{task.ID, row.ID}, {task.Sandbox, row.Sandbox}, {task.ID, seen.Task}, {task.ID, box.Task}, {seen.ID, box.ID},
		{seen.Provider, box.Provider}, {seen.Name, box.Name}, {seen.ID, box.SandboxKey}, {seen.Name, box.AltKey},
	} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%q and %q are two texts, want one", pair[0], pair[1])
		}
	}

	other := Sandbox{Ref: ref, Name: "another", Task: "t2", SandboxKey: "k"}
	want := other
	other.ShareTexts(&m)
	strange := Task{ID: "t2", Sandbox: "s2"}
	strange.ShareTexts(&m)
	if other.Name != want.Name || other.Task != want.Task || other.SandboxKey != want.SandboxKey || other.AltKey != "" ||
		strange.ID != "t2" || strange.Sandbox != "s2" {
		t.Errorf("%+v and %+v are not what they were", other, strange)
	}
}
