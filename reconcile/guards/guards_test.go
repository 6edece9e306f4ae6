package guards_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
)

var longMark = regexp.MustCompile(`((?://|-- )guard:)(\S+) (\S+) ([^\n]+)`)

// written puts files into a folder that can be read as a tree. What follows a mark, in the same
// line, becomes its row in the table.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, rows := t.TempDir(), map[string]bool{}
	for name, text := range files {
		for _, m := range longMark.FindAllStringSubmatch(text, -1) {
			rows[m[2]+" "+m[4]] = true
		}
		put(t, dir, name, longMark.ReplaceAllString(text, "$1$2 $3"))
	}
	put(t, dir, guards.Table, "# a comment\n\n"+strings.Join(slices.Sorted(maps.Keys(rows)), "\n"))
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// body is a file of the home package with one function around some lines.
func body(lines string) map[string]string {
	return map[string]string{"reconcile/a.go": "package reconcile\n\nfunc f(a, b, c bool, n int) int {\n" + lines + "\n\treturn n\n}\n"}
}

// switched is the rewritten text of a tree's file.
func switched(t *testing.T, dir, file string) string {
	t.Helper()
	tree, err := guards.Read(dir, "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if _, err := tree.Overlay(out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, strings.ReplaceAll(file, "/", "_")))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOverlay(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"an if never holds": {
			"//guard:x P1 it breaks\nif a || b {\nn++\n}", "if guardFires(1, a || b) {"},
		"an if with a statement before it": {
			"//guard:x P1 it breaks\nif d := a; d {\nn++\n}", "if d := a; guardFires(1, d) {"},
		"an operand of or": {
			"//guard:x P1 `-b` it breaks\nif a || b || c {\nn++\n}", "if a || guardFires(1, b) || c {"},
		"an operand of and": {
			"//guard:x P1 `-b` it breaks\nif a && b && c {\nn++\n}", "if a && guardHolds(1, b) && c {"},
		"an operand written over two lines": {
			"//guard:x P1 `-n == max(n, 1)` it breaks\nif a ||\nn == max(n,\n1) {\nn++\n}", "guardFires(1, n == max(n,\n1))"},
		"an operand inside of another chain": {
			"//guard:x P1 `-c` it breaks\nif a || b && c {\nn++\n}", "if a || b && guardHolds(1, c) {"},
		"two guards of one condition": {
			"//guard:x P1 `-a` it breaks\n//guard:y harm `-b` so does it\nif a || b {\nn++\n}",
			"if guardFires(1, a) || guardFires(2, b) {"},
		"the whole and a part": {
			"//guard:x P1 it breaks\n//guard:y harm `-a` so does it\nif a || b {\nn++\n}",
			"if guardFires(1, guardFires(2, a) || b) {"},
		"another condition": {
			"//guard:x P1 `= c` it breaks\nif a {\nn++\n}", "if guardSwaps(1, a, c) {"},
		"a case": {
			"switch {\n//guard:x P1 it breaks\ncase a, b:\nn++\n}", "case guardFires(1, a), guardFires(1, b):"},
		"one of a case": {
			"switch {\n//guard:x P1 `-a` it breaks\ncase a, b:\nn++\n}", "case guardFires(1, a), b:"},
		"a case is not what stands in it": {
			"switch {\n//guard:x P1 `-a` it breaks\ncase a:\nif a || b {\nn++\n}\n}", "if a || b {"},
		"a statement": {
			"//guard:x P1 it breaks\nn = 2 // so it is", "if guardRuns(1) { n = 2 } // so it is"},
		"a return": {
			"if a {\n//guard:x P1 it breaks\nreturn 1\n}", "if guardRuns(1) { return 1 }"},
		"another answer": {
			"//guard:x P1 `= 7` it breaks\nreturn n", "if !guardRuns(1) { return 7 }; return n"},
		"another value that is assigned": {
			"//guard:x P1 `= 7` it breaks\nm := n\nn = m", "m := n; if !guardRuns(1) { m = 7 }"},
		"another call": {
			"//guard:x P1 `= f(b, b, b, 0)` it breaks\nf(a, a, a, 0)", "if guardRuns(1) { f(a, a, a, 0) } else { f(b, b, b, 0) }"},
		"another value of an expression": {
			"//guard:x P1 `n - 1 => 0` it breaks\nn = max(n-1, 2)", "n = max(guardElse(1, n-1, 0), 2)"},
		"a loop's condition": {
			"//guard:x P1 it breaks\nfor n < 7 && a {\nn++\n}", "for guardFires(1, n < 7 && a) {"},
		"elements of a line": {
			"type pair struct{ a, b int }\np := pair{\n//guard:x P1 `n => 0` it breaks\na: 1, b: n,\n}\nn = p.b",
			"a: 1, b: guardElse(1, n, 0),"},
		"not what comes after an if": {
			"//guard:x P1 `-a` it breaks\nif a || b {\nn++\n} else if a || c {\nn--\n}", "} else if a || c {"},
		"an else": {
			"if a {\nn++\n//guard:x P1 it breaks\n} else if b {\nn--\n}", "} else if guardFires(1, b) {"},
		"after another comment": {
			"// it is so\n//guard:x P1 it breaks\nif a {\nn++\n}", "if guardFires(1, a) {"},
	} {
		t.Run(name, func(t *testing.T) {
			files := body(c.lines)
			dir := written(t, files)
			got := switched(t, dir, "reconcile/a.go")
			if !strings.Contains(got, c.want) {
				t.Errorf("the copy reads\n%s\nwant %s in it", got, c.want)
			}
			if lines := strings.Count(files["reconcile/a.go"], "\n"); strings.Count(got, "\n") != lines {
				t.Errorf("the copy has %d lines, want %d as the original", strings.Count(got, "\n"), lines)
			}
		})
	}
}

func TestBadMarks(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"no property":          {"//guard:x\nn++", "reconcile/a.go:4: a mark reads"},
		"no row":               {"//guard:x P1\nn++", "reconcile/a.go:4: guard x: it has no row"},
		"no name":              {"//guard: P1 it breaks\nn++", "reconcile/a.go:4: a mark reads"},
		"a name in capitals":   {"//guard:X P1 it breaks\nn++", "reconcile/a.go:4: a mark reads"},
		"a quote that is open": {"//guard:x P1 `-a it breaks\nn++", "guards.txt:3: a row reads"},
		"an unknown property":  {"//guard:x P16 it breaks\nn++", "reconcile/a.go:4: guard x: no such property: P16"},
		"above nothing":        {"//guard:x P1 it breaks\n\nn++", "reconcile/a.go:4: guard x: no statement, case or element"},
		"above an end":         {"if a {\n//guard:x P1 it breaks\n}", "reconcile/a.go:5: guard x: no statement"},
		"a name given twice": {
			"//guard:x P1 it breaks\nn++\n//guard:x P2 so does it\nn--", "reconcile/a.go:7: guard x: the name is taken by reconcile/a.go:5"},
		"two at once": {"//guard:x P16 it breaks\nn++\n//guard:y\nn--", "reconcile/a.go:6: a mark reads"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guards.Read(written(t, body(c.lines)), "reconcile")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}

func TestMarksThatCannotBeSwitched(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"a declaration is needed":    {"//guard:x P1 it breaks\nm := 1\nn = m", "reconcile/a.go:5: guard x: what it declares is needed"},
		"no such operand":            {"//guard:x P1 `-c` it breaks\nif a || b {\nn++\n}", "guard x: no operand of it reads c"},
		"no such expression":         {"//guard:x P1 `c => a` it breaks\nif b {\nn++\n}", "guard x: no expression of it reads c"},
		"an operand that is no code": {"//guard:x P1 `-a b` it breaks\nif a {\nn++\n}", "guard x: read `a b`"},
		"a value that is no code":    {"//guard:x P1 `a => a b` it breaks\nif a {\nn++\n}", "guard x: read `a b`"},
		"no kind of change":          {"//guard:x P1 `a` it breaks\nif a {\nn++\n}", "guard x: `a` is none of"},
		"a case over values":         {"switch n {\n//guard:x P1 it breaks\ncase 1:\nn++\n}", "guard x: a case of a switch over a value"},
		"an element":                 {"n = []int{\n//guard:x P1 it breaks\n0: 1,\n}[0]", "guard x: an element cannot be left out"},
		"another loop":               {"//guard:x P1 `= 7` it breaks\nfor range n {\n}", "guard x: `= Y` needs"},
		"a default":                  {"switch {\n//guard:x P1 it breaks\ndefault:\nn++\n}", "guard x: there is no condition"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := guards.Read(written(t, body(c.lines)), "reconcile")
			if err != nil {
				t.Fatal(err)
			}
			_, err = tree.Overlay(t.TempDir())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}

func TestGuards(t *testing.T) {
	dir := written(t, map[string]string{
		"reconcile/b.go":      "package reconcile\n\ntype t int\n\nfunc (t) f(n int) {\n\t//guard:second once it is done twice\n\tif n > 0 {\n\t\tpanic(n)\n\t}\n}\n",
		"reconcile/a.go":      "package reconcile\n\nvar one = map[string]int{\n\t//guard:first P3 `1 => 2` nobody: asks\n\t\"a\": 1,\n}\n",
		"reconcile/b_test.go": "package reconcile\n\nfunc g() {\n\t//guard:third P1 tests have none\n\tg()\n}\n",
	})
	tree, err := guards.Read(dir, "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range tree.Guards() {
		got = append(got, strings.Join([]string{g.Name, g.Property, g.Says, g.Where(), g.Func}, "|"))
	}
	want := []string{"first|P3|nobody: asks|reconcile/a.go:5|", "second|once|it is done twice|reconcile/b.go:7|f"}
	if !slices.Equal(got, want) {
		t.Errorf("guards = %q, want %q", got, want)
	}
}

// TestSwitches builds a program of two packages with its guards and runs it with each of
// them off.
func TestSwitches(t *testing.T) {
	dir := written(t, map[string]string{
		"go.mod": "module " + guards.Module + "\n\ngo 1.24\n",
		"reconcile/a.go": `package reconcile

func Allowed(ours, held bool, age int) (string, int) {
	//guard:held P8 ` + "`-held`" + ` what is held goes
	if !ours || held {
		return "no", age
	}
	//guard:age P3 ` + "`age => 9`" + ` the young go
	return "yes", max(age, 1)
}
`,
		"store/memory/a.go": `package memory

import "` + guards.Module + `/reconcile"

func Twice(n int) (out []string) {
	for range n {
		//guard:once once it is done again
		if len(out) > 0 {
			break
		}
		why, _ := reconcile.Allowed(true, false, 1)
		out = append(out, why)
	}
	return out
}
`,
		"main.go": `package main

import (
	"fmt"

	"` + guards.Module + `/reconcile"
	"` + guards.Module + `/store/memory"
)

func main() {
	why, _ := reconcile.Allowed(true, true, 1)
	_, age := reconcile.Allowed(true, false, 1)
	fmt.Print(why, " ", age, " ", len(memory.Twice(3)))
}
`,
	})
	tree, err := guards.Read(dir, guards.Folders...)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := tree.Overlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for off, want := range map[string]string{"": "no 1 1", "held": "yes 1 1", "age": "no 9 1", "once": "no 1 3"} {
		run := exec.CommandContext(t.Context(), program)
		run.Env = append(os.Environ(), guards.Off+"="+off)
		if out, err := run.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("without %q it says %q (%v), want %q", off, out, err, want)
		}
	}
	run := exec.CommandContext(t.Context(), program)
	run.Env = append(os.Environ(), guards.Off+"=nobody")
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "no such guard: nobody") {
		t.Errorf("a guard that is none: %q (%v), want it refused", out, err)
	}
}
