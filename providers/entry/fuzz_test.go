package entry

import (
	"maps"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// FuzzMark: whose a sandbox is follows from all that the entry asks for, at once; what it
// names is what it says, whole; and marking changes nothing else.
func FuzzMark(f *testing.F) {
	for _, link := range []string{"", "id", "name", "label:task", "label:", "label:a:b", "ID", "label"} {
		f.Add(link, "task", "t1", "omoios-", "omoios-7", "project", "mine", false)
		f.Add(link, "", "", "", "", "", "", true)
		f.Add(link, "project", "mine", "o", "O", "project", "", true)
	}
	f.Fuzz(func(t *testing.T, link, label, value, prefix, name, ownLabel, ownValue string, referenced bool) {
		e := Entry{Name: "lab", Link: Link{TaskLabel: label, Sandbox: link}, Owns: Owns{NamePrefix: prefix, Referenced: referenced}}
		if ownLabel != "" {
			e.Owns.Labels = map[string]string{ownLabel: ownValue}
		}
		labels := map[string]string{label: value, "other": "x"}
		before := maps.Clone(labels)
		s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, Name: name, Labels: labels}
		e.Mark(&s)
		got, has := before[ownLabel]
		owned := (ownLabel != "" || prefix != "") && strings.HasPrefix(name, prefix) && (ownLabel == "" || has && got == ownValue)
		if s.Owned != owned || !maps.Equal(s.Labels, before) || s.ID != "sb-1" || s.Name != name || s.Provider != "lab" {
			t.Fatalf("%+v marks %+v", e, s)
		}
		if want := before[label]; label != "" && s.Task != want || label == "" && s.Task != "" {
			t.Fatalf("%+v: the task of %+v is %q, want %q", e.Link, before, s.Task, want)
		}
		key, ofLabel := strings.CutPrefix(link, "label:")
		want := map[string]string{"id": "sb-1", "name": name}[link]
		if ofLabel {
			want = before[key]
		}
		if s.SandboxKey != want {
			t.Fatalf("link %q: a row names it by %q, want %q", link, s.SandboxKey, want)
		}
		if e.Owns.ByRowOnly() && owned {
			t.Fatalf("%+v proves without a row", e.Owns)
		}
	})
}
