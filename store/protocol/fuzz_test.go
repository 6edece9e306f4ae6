package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// FuzzSubject: what a person asks about is found under every name that the ledger has for
// it, and nothing of an id is lost: PROVIDER/ID reads as that sandbox, with each slash of
// the id.
func FuzzSubject(f *testing.F) {
	for _, given := range []string{"8c02", "daytona/sb-1", "task:8c02", "sandbox:daytona/sb-1", "sandbox:sb-1", "", "/", "a/", "/a", "a/b/c", "task:", "task:task:x",
		"sandbox:task:x", "task:sandbox:x", " a ", "a\x00b", "\u202e"} {
		f.Add(given)
	}
	f.Fuzz(func(t *testing.T, given string) {
		s := Subject(given)
		if s.Given != given || !strings.HasSuffix(given, s.ID) {
			t.Fatalf("Subject(%q) = %+v", given, s)
		}
		if s.Ref != (reconcile.Ref{}) && s.Ref.String() != s.ID {
			t.Fatalf("Subject(%q) is the sandbox %q, and the id %q", given, s.Ref, s.ID)
		}
		for _, name := range []string{given, "task:" + s.ID, "sandbox:" + s.ID} {
			if !slices.Contains(s.Subjects(reconcile.History{}), name) {
				t.Fatalf("Subject(%q) is not looked for as %q", given, name)
			}
		}
		bare := !strings.HasPrefix(given, "task:") && !strings.HasPrefix(given, "sandbox:")
		if bare {
			for _, kind := range []string{"task:", "sandbox:"} {
				if again := Subject(kind + given); again.ID != given || again.Ref != s.Ref {
					t.Fatalf("Subject(%q) = %+v, want the id %q", kind+given, again, given)
				}
			}
		}
	})
}

// FuzzCheckTarget: a hold that is accepted names something, and so does a pause.
func FuzzCheckTarget(f *testing.F) {
	for _, text := range []string{"task:1", "task:", "label:a=b", "label:=b", "label:a", "label:", "provider:x", "all", "rule:x", "rule:", "", ":", "task", "sandbox:a:b", "ALL", " all"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kind, name, _ := strings.Cut(text, ":")
		if CheckTarget(text) == nil {
			key, _, isLabel := strings.Cut(name, "=")
			if !slices.Contains([]string{"task", "sandbox", "provider", "label"}, kind) || name == "" || kind == "label" && (!isLabel || key == "") {
				t.Fatalf("a hold on %q is accepted", text)
			}
		}
		if CheckScope(text) == nil && text != "all" && (name == "" || kind != "rule" && kind != "provider") {
			t.Fatalf("a pause of %q is accepted", text)
		}
	})
}
