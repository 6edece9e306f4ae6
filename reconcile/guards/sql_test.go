package guards_test

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
)

func TestWithoutLine(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"a condition":                 {"  AND a = @a", "  AND (a = @a OR true)"},
		"the last one in a query":     {"AND a NOT IN ('x', 'y'))", "AND (a NOT IN ('x', 'y') OR true))"},
		"one in brackets":             {"AND (a OR b)", "AND ((a OR b) OR true)"},
		"one of a template":           {"  AND a = @a{{end}}", "  AND (a = @a OR true){{end}}"},
		"a lock":                      {"FOR UPDATE SKIP LOCKED", ""},
		"a lock of a template":        {"FOR NO KEY UPDATE{{end}}", "{{end}}"},
		"what is done at a conflict":  {"ON CONFLICT DO NOTHING", ""},
		"a condition over a template": {"AND ({{.Status}})::text = @status::text", "AND (({{.Status}})::text = @status::text OR true)"},
	} {
		t.Run(name, func(t *testing.T) {
			const before, after = "SELECT 1\nWHERE b\n  -- guard:x P2 it breaks\n", "\n  -- guard:xy P2 it breaks\nAND c"
			got, found := guards.WithoutLine(before+c.line+after, "x")
			if want := before + c.want + after; got != want || !found {
				t.Errorf("without it: %q, %v; want %q", got, found, want)
			}
		})
	}
	const text = "SELECT 1\n-- guard:xy P2 it breaks\nAND c"
	if got, found := guards.WithoutLine(text, "x"); found || got != text {
		t.Errorf("a guard that is none: %q, %v", got, found)
	}
}

func TestReadSQL(t *testing.T) {
	dir := written(t, map[string]string{
		"q/a.sql": "SELECT 1\nWHERE a\n  -- guard:second P2 it breaks\n  AND b\n",
		"q/b.sql": "SELECT 1\n-- guard:first once it is done twice\nFOR UPDATE\n",
		"q/c.sql": "SELECT 2\n-- guard:first once it is done twice\nFOR UPDATE\n",
	})
	all, err := guards.ReadSQL(dir, "q")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range all {
		got = append(got, g.Name+" "+g.Property+" "+g.Says+" "+g.Where())
	}
	if want := "first once it is done twice q/b.sql:3, second P2 it breaks q/a.sql:4"; strings.Join(got, ", ") != want {
		t.Errorf("guards = %q, want %s", got, want)
	}
}

func TestBadSQL(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no row":               {"-- guard:x P2\nAND b", "q/a.sql:1: guard x: it has no row"},
		"an unknown property":  {"-- guard:x P0 it breaks\nAND b", "q/a.sql:1: guard x: no such property"},
		"with code":            {"-- guard:x P2 `-b` it breaks\nAND b", "no code in backquotes"},
		"above another line":   {"-- guard:x P2 it breaks\nWHERE b", "q/a.sql:1: guard x: the line below is none that could be left out"},
		"at the end":           {"SELECT 1\n-- guard:x P2 it breaks", "q/a.sql:2: guard x: the line below is none"},
		"a name that is taken": {"-- guard:x P2 it breaks\nAND b\n-- guard:x P3 it breaks\nAND c", "q/a.sql:4: guard x: the name is taken by q/a.sql:2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guards.ReadSQL(written(t, map[string]string{"q/a.sql": c.text}), "q")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}
