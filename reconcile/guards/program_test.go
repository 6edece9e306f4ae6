package guards_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/guards"
)

const root = "../.."

var (
	keep   = flag.String("keep", "", "write the overlay of the program into this folder, to work with it by hand")
	update = flag.Bool("update-document", false, "write docs/guards.md anew")
)

// TestProgram: all marks of the program can be read, and a switch can be put into each.
func TestProgram(t *testing.T) {
	folder := *keep
	if folder == "" {
		folder = t.TempDir()
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := program(t).Overlay(folder); err != nil {
		t.Fatal(err)
	}
}

func program(t *testing.T) *guards.Tree {
	t.Helper()
	tree, err := guards.Read(root, guards.Folders...)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// queries are the folders whose files have marks.
var queries = []string{"store/ledger/queries", "store/tasks/queries"}

// TestRows: every row of the table has a mark. That every mark has a row is asked in reading.
func TestRows(t *testing.T) {
	sql, err := guards.ReadSQL(root, queries...)
	if err != nil {
		t.Fatal(err)
	}
	unmarked, err := guards.Unmarked(root, append(sql, program(t).Guards()...)...)
	if err != nil || len(unmarked) > 0 {
		t.Errorf("%s has rows that no mark names: %v (%v); delete them", guards.Table, unmarked, err)
	}
}

// TestDocument: docs/guards.md tells of all guards.
func TestDocument(t *testing.T) {
	file := filepath.Join(root, "docs", "guards.md")
	sql, err := guards.ReadSQL(root, queries...)
	if err != nil {
		t.Fatal(err)
	}
	want := guards.Document(
		guards.Part{Title: "In the code", Guards: program(t).Guards(), Witnesses: shown(t, "reconcile/run/testdata/guards.txt")},
		guards.Part{Title: "In the queries", Guards: sql, Witnesses: slices.Concat(
			shown(t, "store/tasks/testdata/guards.txt"), shown(t, "store/ledger/testdata/guards.txt"))})
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/guards.md does not tell of the guards as they are: go generate ./reconcile/guards")
	}
}

func shown(t *testing.T, file string) []guards.Witness {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	list, err := guards.ReadWitnesses(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
