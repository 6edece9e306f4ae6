package guards

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Witness is what shows that a guard matters: something that goes well with it, and breaks
// its property without it.
type Witness struct {
	Guard    string
	Property string // the one that breaks
	Kind     string // one of the Shown constants
	What     string // the seed, the file, or the test: `^TestX$/^case$`, elsewhere `store/memory#^TestX$`
}

// The kinds of witnesses.
const (
	ShownBySeed    = "seed"    // a history that the seed generates
	ShownByHistory = "history" // a history kept in testdata/guards
	ShownByTest    = "test"    // a test that fails, where the simulation has no such world
)

// Seed is the seed of a witness by seed.
func (w *Witness) Seed() uint64 {
	n, _ := strconv.ParseUint(w.What, 10, 64) // checked when it was read
	return n
}

// Test is the folder of a witness by test, from the root, and which of its tests it is. Where
// the witness names no folder, it is the one below reconcile that has the test.
func (w *Witness) Test(root string) (folder, test string, err error) {
	if folder, test, elsewhere := strings.Cut(w.What, "#"); elsewhere {
		return folder, test, nil
	}
	name := testName.FindString(w.What)
	var found []string
	err = fs.WalkDir(os.DirFS(root), "reconcile", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if bytes.Contains(text, []byte("\nfunc "+name+"(")) {
			found = append(found, path.Dir(file))
		}
		return err
	})
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("witness of %s: %s is in %d folders below reconcile, name one as in store/memory#^TestX$: %v",
			w.Guard, name,
			len(found), found)
	}
	return strings.Join(found, ""), w.What, err
}

var testName = regexp.MustCompile(`Test\w+`)

// String is the line that the witness was read from.
func (w *Witness) String() string {
	return fmt.Sprintf("%s %s %s:%s", w.Guard, w.Property, w.Kind, w.What)
}

// ReadWitnesses reads a file of witnesses: one a line, `NAME PROPERTY KIND:WHAT`, comments
// begin with #. A guard may have several, of which one is enough: a history that is kept may
// lose its point when the world of the simulation changes. All mistakes are reported, with
// file and line.
func ReadWitnesses(file, text string) ([]Witness, error) {
	var out []Witness
	var errs []error
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		w, err := readWitness(line)
		if err == nil && slices.Contains(out, w) {
			err = fmt.Errorf("guard %s has this witness already", w.Guard)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, i+1, err))
			continue
		}
		out = append(out, w)
	}
	return out, errors.Join(errs...)
}

func readWitness(line string) (Witness, error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return Witness{}, errors.New("a witness reads NAME PROPERTY KIND:WHAT")
	}
	kind, what, _ := strings.Cut(words[2], ":")
	w := Witness{Guard: words[0], Property: words[1], Kind: kind, What: what}
	switch {
	case !slices.Contains(Properties, w.Property):
		return w, fmt.Errorf("no such property: %s", w.Property)
	case !slices.Contains([]string{ShownBySeed, ShownByHistory, ShownByTest}, kind) || what == "":
		return w, fmt.Errorf("%s is none of seed:N, history:FILE and test:NAME", words[2])
	}
	if _, err := strconv.ParseUint(what, 10, 64); kind == ShownBySeed && err != nil {
		return w, fmt.Errorf("seed of %s: %w", w.Guard, err)
	}
	return w, nil
}

// Compare says what guards and witnesses do not agree on: a guard without a witness, one that
// shows another property, a witness of nothing.
func Compare(all []Guard, witnesses []Witness) []string {
	var out []string
	known := map[string]bool{}
	for i := range all {
		g := &all[i]
		known[g.Name] = true
		shown := false
		for _, w := range witnesses {
			if w.Guard != g.Name {
				continue
			}
			shown = true
			if w.Property != g.Property {
				out = append(out, fmt.Sprintf("%s: guard %s carries %s, and its witness shows %s", g.Where(), g.Name, g.Property,
					w.Property))
			}
		}
		if !shown {
			out = append(out, fmt.Sprintf("%s: guard %s has no witness: nothing shows that it matters", g.Where(), g.Name))
		}
	}
	for _, w := range witnesses {
		if !known[w.Guard] {
			out = append(out, fmt.Sprintf("witness of %s: there is no such guard", w.Guard))
		}
	}
	return out
}
