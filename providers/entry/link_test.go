package entry

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// key is that of the documents' example.
const key = "0123456789abcdef0123456789abcdef"

// A signed link is what docs/configuration.md says, as other programs make it, and fits into a label of Kubernetes.
func TestLinkValue(t *testing.T) {
	for task, want := range map[string]string{ // made with Python's hmac and base64
		"t1":                                   "t1.mwvcgfoinwku6opuu3s3hfpace",
		"3f2c9a52-6a0e-4f1e-9d0b-0d6a2c1f7e55": "3f2c9a52-6a0e-4f1e-9d0b-0d6a2c1f7e55.tjegn63xishfs5fiokbjuv5oq4",
	} {
		if got := (Link{Key: key}).Value(task); got != want || len(got) > 63 {
			t.Errorf("the label of %s = %q, want %q", task, got, want)
		}
		if got := (Link{}).Value(task); got != task {
			t.Errorf("without a key the label of %s = %q", task, got)
		}
	}
}

// A label names the task only with its signature.
func TestSignedLinks(t *testing.T) {
	e := Entry{Name: "lab", Link: Link{TaskLabel: "task_id", Sandbox: "id", Key: key}}
	good := e.Link.Value("t1")
	for name, c := range map[string]struct{ said, task, unsigned string }{
		"signed":              {good, "t1", ""},
		"none":                {"", "", ""},
		"the id alone":        {"t1", "", "t1"},
		"another's signature": {"t2" + strings.TrimPrefix(good, "t1"), "", "t2.mwvcgfoinwku6opuu3s3hfpace"},
		"of another key":      {Link{Key: key + "x"}.Value("t1"), "", Link{Key: key + "x"}.Value("t1")},
		"cut":                 {good[:len(good)-1], "", good[:len(good)-1]},
		"longer":              {good + "a", "", good + "a"},
		"in capitals":         {strings.ToUpper(good), "", strings.ToUpper(good)},
		"no id":               {strings.TrimPrefix(good, "t1"), "", strings.TrimPrefix(good, "t1")},
	} {
		t.Run(name, func(t *testing.T) {
			s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "s1"}, Labels: map[string]string{"task_id": c.said}}
			e.Mark(&s)
			if s.Task != c.task || s.Unsigned != c.unsigned {
				t.Errorf("%q names %q, unsigned %q; want %q, %q", c.said, s.Task, s.Unsigned, c.task, c.unsigned)
			}
		})
	}
	e.Link.Key = ""
	s := reconcile.Sandbox{Labels: map[string]string{"task_id": "t1"}}
	if e.Mark(&s); s.Task != "t1" || s.Unsigned != "" {
		t.Errorf("without a key: %q, %q", s.Task, s.Unsigned)
	}
	if got := e.LabelsOf("t1")["task_id"]; got != "t1" {
		t.Errorf("without a key it is searched by %q", got)
	}
	e.Link.Key = key
	if got := e.LabelsOf("t1")["task_id"]; got != good {
		t.Errorf("it is searched by %q, want %q", got, good)
	}
}
