package guards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Folders are those with marked code, each with all packages below it.
var Folders = []string{"reconcile", "store"}

// A Tree is the marked code of the program.
type Tree struct {
	root    string
	sources []*source
}

// Read finds the guards in folders under root and all below them, without their tests. Bad
// marks are all reported, with file and line.
func Read(root string, folders ...string) (*Tree, error) {
	t := &Tree{root: root}
	rows, err := readTable(root)
	errs := []error{err}
	for _, folder := range folders {
		errs = append(errs, fs.WalkDir(os.DirFS(root), folder, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return fmt.Errorf("list the code of %s: %w", folder, err)
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
				errs = append(errs, t.read(rows, file))
			}
			return nil
		}))
	}
	errs = append(errs, t.number())
	return t, errors.Join(errs...)
}

func (t *Tree) read(rows table, file string) error {
	text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(file)))
	if err != nil {
		return fmt.Errorf("read marked code: %w", err)
	}
	s, err := rows.read(file, text)
	if s != nil {
		t.sources = append(t.sources, s)
	}
	return err
}

// number gives each guard its place in the switch, by name, and refuses a name given twice.
func (t *Tree) number() error {
	all := t.marks()
	slices.SortFunc(all, func(a, b *mark) int { return cmp.Compare(a.Name, b.Name) })
	var errs []error
	for i, m := range all {
		m.number = i + 1
		if i > 0 && all[i-1].Name == m.Name {
			errs = append(errs, fmt.Errorf("%s:%d: guard %s: the name is taken by %s:%d",
				m.File, m.Line, m.Name, all[i-1].File, all[i-1].Line))
		}
	}
	return errors.Join(errs...)
}

func (t *Tree) marks() []*mark {
	var all []*mark
	for _, s := range t.sources {
		for i := range s.marks {
			all = append(all, &s.marks[i])
		}
	}
	return all
}

// Guards are all guards by name.
func (t *Tree) Guards() []Guard {
	all := t.marks()
	out := make([]Guard, 0, len(all))
	for _, m := range all {
		out = append(out, m.Guard)
	}
	slices.SortFunc(out, func(a, b Guard) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Overlay writes a copy of the marked files with a switch in each guard into folder, beside
// what go's -overlay needs, whose path it returns.
func (t *Tree) Overlay(folder string) (string, error) {
	replace := map[string]string{}
	put := func(file string, text []byte) error {
		copied := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		original, err := filepath.Abs(filepath.Join(t.root, filepath.FromSlash(file)))
		if err != nil {
			return fmt.Errorf("place %s: %w", file, err)
		}
		replace[original] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	var errs []error
	packages := map[string]string{}
	for _, s := range t.sources {
		if len(s.marks) == 0 {
			continue
		}
		text, err := s.rewrite()
		errs = append(errs, err, put(s.file, text))
		packages[s.folder()] = s.pkg()
	}
	for dir, name := range packages {
		errs = append(errs, put(path.Join(dir, "guards_switch.go"), []byte("package "+name+"\n"+wayToSwitch)))
	}
	errs = append(errs, put(switchFolder+"/switch.go", t.theSwitch()), put(SwitchOfTests, []byte(theTestsSwitch)))
	if err := errors.Join(errs...); err != nil {
		return "", fmt.Errorf("write the overlay of the guards: %w", err)
	}
	return writeOverlay(folder, replace)
}

func writeOverlay(folder string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("write the overlay of the guards: %w", err)
	}
	file := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay of the guards: %w", err)
	}
	return file, nil
}

// theSwitch is the code of the switch.
func (t *Tree) theSwitch() []byte {
	var out bytes.Buffer
	out.WriteString(theSwitch)
	out.WriteString("\n// names are by number, from 1.\nvar names = []string{\n\t\"\",\n")
	for _, g := range t.Guards() {
		fmt.Fprintf(&out, "\t%q,\n", g.Name)
	}
	out.WriteString("}\n")
	return out.Bytes()
}
