package guards_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
)

func TestReadWitnesses(t *testing.T) {
	list, err := guards.ReadWitnesses("w.txt", "# by hand\n\na P1 seed:42\nb harm history:guard_b.txt\nc live test:^TestC$/a_b\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range list {
		got = append(got, w.String())
	}
	want := []string{"a P1 seed:42", "b harm history:guard_b.txt", "c live test:^TestC$/a_b"}
	if !slices.Equal(got, want) || list[0].Seed() != 42 {
		t.Errorf("witnesses = %q, the first of seed %d; want %q and 42", got, list[0].Seed(), want)
	}
	for line, want := range map[string]string{
		"a P1":                     "w.txt:1: a witness reads",
		"a P1 seed:1 because":      "w.txt:1: a witness reads",
		"a P0 seed:1":              "no such property: P0",
		"a P1 seed:":               "none of seed:N",
		"a P1 seed:x":              "seed of a: ",
		"a P1 luck:1":              "none of seed:N",
		"a P1 seed":                "none of seed:N",
		"a P1 seed:1\na P2 s:1":    "w.txt:2: s:1 is none",
		"a P1 seed:1\na P1 seed:1": "w.txt:2: guard a has this witness already",
	} {
		if _, err := guards.ReadWitnesses("w.txt", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadWitnesses(%q) = %v, want %s", line, err, want)
		}
	}
}

func TestCompare(t *testing.T) {
	all := []guards.Guard{{Name: "a", Property: "P1", File: "f.go", Line: 1}, {Name: "b", Property: "P2", File: "f.go", Line: 2},
		{Name: "c", Property: "P3", File: "f.go", Line: 3}}
	got := guards.Compare(all, []guards.Witness{{Guard: "a", Property: "P1"}, {Guard: "b", Property: "P1"}, {Guard: "d", Property: "P1"}})
	want := []string{
		"f.go:2: guard b carries P2, and its witness shows P1",
		"f.go:3: guard c has no witness: nothing shows that it matters",
		"witness of d: there is no such guard",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Compare = %q, want %q", got, want)
	}
}

func TestTextOfTheDocument(t *testing.T) {
	text := guards.Document(guards.Part{
		Title: "Here", Witnesses: []guards.Witness{{Guard: "a", Property: "P1", Kind: guards.ShownBySeed, What: "42"}},
		Guards: []guards.Guard{{Name: "a", Property: "P1", Says: "x | y", File: "f.go", Line: 7},
			{Name: "b", Property: "live", Says: "it stays", File: "g.go", Line: 8}}})
	for _, want := range []string{
		"\n## Here: 2\n", "\n### P1: Nothing foreign is touched\n", "\n| `a` | x \\| y | `f.go` | seed `42` |\n",
		"\n| `b` | it stays | `g.go` | nothing yet |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document reads\n%s\nwant %q in it", text, want)
		}
	}
	if strings.Contains(text, "### P2") {
		t.Error("a property without a guard has a heading")
	}
}

func TestWitnessByTest(t *testing.T) {
	dir := written(t, map[string]string{
		"reconcile/run/a_test.go":    "package run\n\nfunc TestOne(t *testing.T) {}\n\nfunc TestTwo(t *testing.T) {}\n",
		"reconcile/decide/a_test.go": "package decide\n\nfunc TestOnes(t *testing.T) {}\n\nfunc TestTwo(t *testing.T) {}\n",
	})
	for what, want := range map[string]string{"^TestOne$/^a_case$": "reconcile/run", "store/memory#^TestOne$": "store/memory",
		"^TestTwo$": "", "^TestNone$": ""} {
		w := guards.Witness{Guard: "x", Kind: guards.ShownByTest, What: what}
		folder, _, err := w.Test(dir)
		if (err == nil) != (want != "") || err == nil && folder != want {
			t.Errorf("%s is in %q (%v), want %q", what, folder, err, want)
		}
	}
}
