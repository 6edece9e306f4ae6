package reconcile

import (
	"slices"
	"testing"
)

// What is counted is found again by what is remembered of it, also once something else is remembered of the same; what
// nothing is remembered of is counted and nothing more.
func TestPlain(t *testing.T) {
	var m Memory
	ref := func(id string) Ref { return Ref{Provider: "lab", ID: id} }
	for i := range 200 {
		id := string(rune('a' + i))
		m.Tasks.Put(id, TaskSeen{ID: id})
		m.Sandboxes.Put(ref(id), SandboxSeen{Ref: ref(id)})
	}
	var p Plain
	for i := 0; i < 200; i += 3 {
		task, _ := m.Tasks.At(string(rune('a' + i)))
		box, _ := m.Sandboxes.At(ref(string(rune('a' + i))))
		p.Add(task)
		p.AddSandbox(box)
	}
	fresh := SandboxSeen{Ref: ref("fresh")}.Compact()
	p.Fresh = append(p.Fresh, fresh)
	p.Add(nil)
	p.AddSandbox(nil)
	if p.Tasks != 68 || p.Sandboxes != 68 || p.Has(nil) || p.HasSandbox(nil) || p.HasSandbox(fresh) {
		t.Errorf("%d rows and %d sandboxes are plain, want 68 each", p.Tasks, p.Sandboxes)
	}
	m.Tasks.Put("a", TaskSeen{ID: "a", Status: "another"})
	var each []string
	for was := range p.EachSandbox(&m) {
		each = append(each, was.Seen().ID)
	}
	for i := range 200 {
		id := string(rune('a' + i))
		task, _ := m.Tasks.At(id)
		box, _ := m.Sandboxes.At(ref(id))
		if want := i%3 == 0; p.Has(task) != want || p.HasSandbox(box) != want || slices.Contains(each, id) != want {
			t.Errorf("%d is plain: %v, want %v", i, p.Has(task), want)
		}
	}
	if len(each) != 68 || !slices.Contains(each, "fresh") {
		t.Errorf("%d sandboxes are plain: %q", len(each), each)
	}
}
