package entry_test

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestProve(t *testing.T) {
	labels := map[string]string{"project": "mine", "env": "prod"}
	for name, test := range map[string]struct {
		owns entry.Owns
		want bool
	}{
		"no proof is asked for": {entry.Owns{}, false},
		"only rows prove":       {entry.Owns{Referenced: true}, false},
		"one label holds":       {entry.Owns{Labels: map[string]string{"project": "mine"}}, true},
		"both labels hold": {
			entry.Owns{Labels: map[string]string{"project": "mine", "env": "prod"}}, true,
		},
		"one of two labels holds": {
			entry.Owns{Labels: map[string]string{"project": "mine", "env": "dev"}}, false,
		},
		"a label is not there":     {entry.Owns{Labels: map[string]string{"team": ""}}, false},
		"the prefix holds":         {entry.Owns{NamePrefix: "x-"}, true},
		"the prefix does not hold": {entry.Owns{NamePrefix: "y-"}, false},
		"the labels hold, the prefix not": {
			entry.Owns{Labels: map[string]string{"project": "mine"}, NamePrefix: "y-"}, false,
		},
		"the prefix holds, the labels not": {
			entry.Owns{Labels: map[string]string{"project": "theirs"}, NamePrefix: "x-"}, false,
		},
	} {
		if got := test.owns.Prove("x-1", labels); got != test.want {
			t.Errorf("%s: Prove = %t, want %t", name, got, test.want)
		}
	}
	if (entry.Owns{Labels: map[string]string{"a": ""}}).Prove("x", nil) {
		t.Error("an empty value proves ownership of one without labels")
	}
}

func TestExcept(t *testing.T) {
	labels := map[string]string{"project": "mine", "type": "spec"}
	for name, test := range map[string]struct {
		except entry.Class
		want   bool
	}{
		"nothing is excepted":          {entry.Class{}, false},
		"a label holds":                {entry.Class{Labels: map[string]string{"type": "spec"}}, true},
		"one of two labels holds":      {entry.Class{Labels: map[string]string{"type": "spec", "project": "x"}}, false},
		"the prefix holds":             {entry.Class{NamePrefix: "x-"}, true},
		"the prefix does not":          {entry.Class{NamePrefix: "x-2"}, false},
		"its template":                 {entry.Class{Templates: []string{"other", "base"}}, true},
		"another word for it":          {entry.Class{Templates: []string{"tpl_1"}}, true},
		"another template":             {entry.Class{Templates: []string{"bas"}}, false},
		"what is not known of it":      {entry.Class{Templates: []string{""}}, false},
		"a label that it has not":      {entry.Class{WithoutLabel: "task_id"}, true},
		"a label that it has":          {entry.Class{WithoutLabel: "type"}, false},
		"a label does not, the prefix": {entry.Class{Labels: map[string]string{"type": "x"}, NamePrefix: "x-"}, true},
	} {
		s := reconcile.Sandbox{Name: "x-1", Labels: labels, Template: "base"}
		e := entry.Entry{Owns: entry.Owns{Labels: map[string]string{"project": "mine"}, Except: test.except}}
		e.Mark(&s, "", "tpl_1")
		if s.Excepted != test.want || s.Owned == test.want {
			t.Errorf("%s: excepted %t, owned %t; want it excepted %t", name, s.Excepted, s.Owned, test.want)
		}
		e.Owns.Except, e.Owns.Spares = entry.Class{}, test.except
		if e.Mark(&s, "", "tpl_1"); s.Spare != test.want || !s.Owned {
			t.Errorf("%s: spare %t, owned %t; want it spare %t and ours", name, s.Spare, s.Owned, test.want)
		}
		e.Link.TaskLabel = "type"
		if e.Mark(&s, "", "tpl_1"); s.Spare {
			t.Errorf("%s: it names a task and is a spare", name)
		}
		e.Link.TaskLabel, e.Owns.Except, e.Owns.Spares = "", test.except, entry.Class{}
		e.Owns.Labels, e.Owns.Referenced = nil, true
		e.Mark(&s, "", "tpl_1")
		if e.OwnNamed(&s); s.Owned == test.want {
			t.Errorf("%s: owned %t where a row names it, want %t", name, s.Owned, !test.want)
		}
	}
}

func TestMark(t *testing.T) {
	for name, test := range map[string]struct {
		link entry.Link
		task string
		key  string
		also string
	}{
		"no link":                {entry.Link{}, "", "", ""},
		"by a label of the task": {entry.Link{TaskLabel: "task_id"}, "t1", "", ""},
		"by id":                  {entry.Link{Sandbox: "id"}, "", "sb-1", ""},
		"by name":                {entry.Link{Sandbox: "name"}, "", "x-1", "sb-1"},
		"by another label":       {entry.Link{Sandbox: "label:session"}, "", "s9", "sb-1"},
		"both ways":              {entry.Link{TaskLabel: "task_id", Sandbox: "id"}, "t1", "sb-1", ""},
		"a label that is absent": {entry.Link{TaskLabel: "x", Sandbox: "label:y"}, "", "", "sb-1"},
	} {
		s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, Name: "x-1",
			Labels: map[string]string{"task_id": "t1", "session": "s9"}}
		entry.Entry{Name: "lab", Link: test.link, Owns: entry.Owns{NamePrefix: "x-"}}.Mark(&s)
		if s.Task != test.task || s.SandboxKey != test.key || s.AltKey != test.also || s.Provider != "lab" || !s.Owned {
			t.Errorf("%s: Mark = %+v, want task %q and key %q, or %q", name, s, test.task, test.key, test.also)
		}
	}
}

func TestOrName(t *testing.T) {
	for name, test := range map[string]struct{ link, name, want string }{
		"rows hold ids":                         {"id", "x-1", "x-1"},
		"rows hold ids, and the id is its name": {"id", "sb-1", ""},
		"rows hold ids, and it has no name":     {"id", "", ""},
		"rows hold names":                       {"name", "x-1", "sb-1"},
		"rows hold nothing":                     {"", "x-1", ""},
	} {
		s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, Name: test.name}
		e := entry.Entry{Link: entry.Link{Sandbox: test.link}}
		e.Mark(&s)
		if e.OrName(&s); s.AltKey != test.want {
			t.Errorf("%s: rows may also hold %q, want %q", name, s.AltKey, test.want)
		}
	}
}

func TestByRowOnly(t *testing.T) {
	for name, test := range map[string]struct {
		owns entry.Owns
		want bool
	}{
		"rows alone":      {entry.Owns{Referenced: true}, true},
		"rows and labels": {entry.Owns{Referenced: true, Labels: map[string]string{"a": "b"}}, false},
		"rows and a name": {entry.Owns{Referenced: true, NamePrefix: "x-"}, false},
		"nothing":         {entry.Owns{}, false},
	} {
		if got := test.owns.ByRowOnly(); got != test.want {
			t.Errorf("%s: ByRowOnly = %t, want %t", name, got, test.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	at := time.Unix(7, 0)
	o := entry.Options{Agent: "me", Now: func() time.Time { return at }}.WithDefaults()
	if o.Log == nil || o.Agent != "me" || !o.Now().Equal(at) {
		t.Errorf("WithDefaults = %+v, want what was given kept", o)
	}
	if o = (entry.Options{}).WithDefaults(); o.Log == nil || o.Agent == "" || o.Now == nil {
		t.Errorf("WithDefaults = %+v, want all filled in", o)
	}
}
