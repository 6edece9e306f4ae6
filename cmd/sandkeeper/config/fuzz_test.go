package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// FuzzParseConfig: what is accepted prints to what reads the same, and the schema for editors
// accepts it too. What is not has a place for each mistake, and all mistakes come together.
func FuzzParseConfig(f *testing.F) {
	for _, text := range configSeeds(f) {
		f.Add(text)
	}
	schema := readSchema(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("c.yaml", []byte(text), fuzzEnv)
		if err != nil {
			mistaken(t, text, err)
			return
		}
		c.Locate("tasks.columns.id")
		if why := schema.refuses(parseYAML(newReport("c.yaml"), []byte(text))); why != "" {
			t.Errorf("accepted, and the schema refuses it: %s", why)
		}
		readsAgain(t, c)
	})
}

// fuzzEnv has a value for every variable of the examples.
func fuzzEnv(name string) (string, bool) {
	switch {
	case strings.HasPrefix(name, "NO"), len(name) < 2:
		return "", false
	case strings.HasSuffix(name, "DATABASE_URL"):
		return "postgres://user:t0ken@db.example/x", true
	case strings.HasPrefix(name, "SANDKEEPER_"):
		return "@every 1m", true
	case name == "EMPTY":
		return "", true
	case name == "ODD":
		return "odd\nmode: enforce", true
	}
	return "t0ken", true
}

func configSeeds(f *testing.F) []string {
	f.Helper()
	var files, seeds []string
	for _, pattern := range []string{"testdata/*.yaml", "../../../deploy/examples/*.yaml", "../../../deploy/examples/*/sandkeeper.yaml",
		"../../../deploy/kustomize/*/sandkeeper.yaml",
		"../../../deploy/kustomize/examples/*/sandkeeper.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			f.Fatalf("find seeds in %s = %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	for _, group := range []map[string]brokenConfig{
		brokenShapes, brokenValues, brokenVariables, brokenTasks, brokenProviders, brokenRules, brokenLimits,
	} {
		for _, tt := range group {
			seeds = append(seeds, tt.text())
		}
	}
	return seeds
}

// TestSchemaRefuses: the check of files against the schema sees what is wrong.
func TestSchemaRefuses(t *testing.T) {
	schema := readSchema(t)
	refuses := func(text string) string {
		return schema.refuses(parseYAML(newReport("c.yaml"), []byte(text)))
	}
	if why := refuses(sound); why != "" {
		t.Fatalf("the sound config is refused: %s", why)
	}
	for add, want := range map[string]string{
		"mode: armed":                          `mode: "armed" is not enum`,
		"nothing: 1":                           "nothing: is no key that is known",
		"rules: {orphans: off}":                "rules: orphans: is no name that is known",
		"rules: {orphan: {after: soon}}":       "not pattern",
		"rules: {orphan: {sightings: two}}":    `"two" is not type integer`,
		"rules: {orphan: {overrides: {a: b}}}": "not type array",
		"limits: {share: 0}":                   "exclusiveMinimum",
		"limits: {per_pass: [1]}":              "not type integer",
		"web: {operators: [{a: b}]}":           "not type string",
		"log: {format: xml}":                   "not enum",
		"events: some":                         "not type object",
		"tasks: {columns: {start_at: x}}":      "start_at: is no name that is known",
		"alerts: {notify: x}":                  "not type array",
	} {
		if why := refuses(sound + add + "\n"); !strings.Contains(why, want) {
			t.Errorf("%s: the schema refuses it by %q, want %q", add, why, want)
		}
	}
	if why := refuses("installation: x\n"); !strings.Contains(why, "lacks tasks") {
		t.Errorf("a config without tasks: %q", why)
	}
}

// readsAgain prints a config and reads it.
func readsAgain(t *testing.T, c *Config) {
	t.Helper()
	text := printConfig(c)
	again, err := Parse("c.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatalf("the printed config is refused:\n%v\n%s", err, text)
	}
	secrets := cmp.Comparer(func(a, b Secret) bool { return a.Reveal() == b.Reveal() })
	cron := cmp.Comparer(func(a, b CronLine) bool { return a.Text == b.Text && a.Gap == b.Gap })
	places := cmpopts.IgnoreFields(Error{}, "Line", "Column")
	options := []cmp.Option{secrets, cron, places, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Config{}, LinkConfig{}),
		cmpopts.EquateComparable(), cmpopts.SortSlices(func(a, b Error) bool { return a.Error() < b.Error() })}
	if diff := cmp.Diff(c, again, options...); diff != "" {
		t.Fatalf("the printed config is another one (-first +again):\n%s\n%s", diff, text)
	}
	for what, pair := range map[string][2]any{
		"policy": {c.Policy(), again.Policy()}, "entries": {c.Entries(), again.Entries()}, "mapping": {c.Mapping(), again.Mapping()},
	} {
		if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateEmpty(), cmp.AllowUnexported(reconcile.Override{})); diff != "" {
			t.Fatalf("the %s of the printed config differs (-first +again):\n%s", what, diff)
		}
	}
	if twice := printConfig(again); twice != text {
		t.Fatalf("printed twice:\n%s\n%s", text, twice)
	}
}

// mistaken: each mistake has its place in the file and is one line, none is told twice, and
// one more in the file is one more in the list.
func mistaken(t *testing.T, text string, err error) {
	t.Helper()
	var all Errors
	if !errors.As(err, &all) || len(all) == 0 {
		t.Fatalf("Parse = %v, want Errors", err)
	}
	lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
	said := map[string]bool{}
	for _, e := range all {
		if e.File != "c.yaml" || e.Line < 1 || e.Line > lines || e.Column < 1 || e.Problem == "" || e.Key == "" && e.Fix == "" {
			t.Errorf("mistake %#v has no place in %d lines, no problem or no fix", e, lines)
		}
		if strings.ContainsAny(e.Error(), "\n\r") || said[e.Error()] {
			t.Errorf("mistake %q has many lines or is told twice", e.Error())
		}
		if strings.Contains(e.Error(), "t0ken") && !strings.Contains(text, "t0ken") {
			t.Errorf("mistake %q shows what a variable holds", e.Error())
		}
		said[e.Error()] = true
	}
	if longer, ok := withUnknownKey(text); ok {
		_, err := Parse("c.yaml", []byte(longer), fuzzEnv)
		var more Errors
		errors.As(err, &more)
		more = slices.DeleteFunc(more, func(e Error) bool { return strings.Contains(e.Problem, `"zz_nothing"`) })
		if diff := cmp.Diff(all, more); len(all) != len(more) {
			t.Errorf("with one more mistake the list is another (-without +with):\n%s", diff)
		}
	}
}

// withUnknownKey adds a mistake behind a config whose end is the end of a block mapping; ok is
// false where that would change what stands before it.
func withUnknownKey(text string) (longer string, ok bool) {
	root, plain := parseYAML(newReport("c.yaml"), []byte(text)).(*ast.MappingNode)
	if !plain || root.IsFlowStyle || len(root.Values) == 0 || nodePlace(root.Values[0].Key).column != 1 {
		return "", false
	}
	longer = text + "\nzz_nothing: 1\n"
	grown, plain := parseYAML(newReport("c.yaml"), []byte(longer)).(*ast.MappingNode)
	if !plain || len(grown.Values) != len(root.Values)+1 {
		return "", false
	}
	last := len(root.Values) - 1
	return longer, root.Values[last].Value.String() == grown.Values[last].Value.String()
}

// FuzzExpandVariables: a variable's value is put in as it is and never looked at again, what
// is no variable stays, and what is escaped comes back.
func FuzzExpandVariables(f *testing.F) {
	for _, text := range []string{"${A}", "a${A}b${B:-c}", "$${A}", "${", "${}", "${A", "$$${A}", "${A:-${B}}", "${A:-}", "${1}", "$", "}", "${LOOP}", "${EMPTY:-x}", "${EMPTY}"} {
		f.Add(text, "value")
		f.Add(text, "${A}")
		f.Add(text, "$${LOOP}: \"\n")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		asked := 0
		got, bad := expandVariables(text, func(name string) (string, bool) {
			if asked++; asked > strings.Count(text, "${") {
				t.Fatalf("expandVariables(%q) asks for variable number %d", text, asked)
			}
			return map[string]string{"A": value, "B": value, "LOOP": "${LOOP}", "EMPTY": ""}[name], slices.Contains([]string{"A", "B", "LOOP", "EMPTY"}, name)
		})
		if bad != nil {
			if said := bad.problem + bad.fix; len(value) > 3 && strings.Contains(said, value) && !strings.Contains(text, value) &&
				!strings.Contains("holds a ${ that is not closed write ${NAME}, or $${ for the two characters default needs the variable which is not set ${…} no", value) {
				t.Fatalf("expandVariables(%q) says %q, which shows what a variable holds", text, said)
			}
			return
		}
		if len(got) > len(text)+asked*max(len(value), len("${LOOP}")) {
			t.Fatalf("expandVariables(%q) with %q = %q, which is longer than its parts", text, value, got)
		}
		if asked == 0 && got != strings.ReplaceAll(text, "$${", "${") {
			t.Fatalf("expandVariables(%q) = %q", text, got)
		}
		escaped := strings.ReplaceAll(text, "${", "$${")
		if back, bad := expandVariables(escaped, os.LookupEnv); bad != nil || back != text {
			t.Fatalf("expandVariables(%q) = %q, %v, want %q", escaped, back, bad, text)
		}
	})
}
