package guards

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const sqlPrefix = "-- guard:"

// ReadSQL finds the guards in the SQL files of folders under root.
func ReadSQL(root string, folders ...string) ([]Guard, error) {
	rows, err := readTable(root)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.sql"))
		if err != nil {
			return nil, fmt.Errorf("list the queries of %s: %w", folder, err)
		}
		files = append(files, found...)
	}
	var all []Guard
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, fmt.Errorf("read marked queries: %w", err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return nil, fmt.Errorf("read marked queries: %w", err)
		}
		found, err := rows.sqlGuards(filepath.ToSlash(name), string(text))
		all, errs = append(all, found...), append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b Guard) int { return strings.Compare(a.Name, b.Name) })
	all, err = once(all)
	return all, errors.Join(append(errs, err)...)
}

// once puts the places of a guard together that stands in two queries, of which either would
// do: it is the same one only when it carries the same.
func once(all []Guard) ([]Guard, error) {
	var out []Guard
	var errs []error
	for i, g := range all {
		if i == 0 || all[i-1].Name != g.Name {
			out = append(out, g)
			continue
		}
		if first := &out[len(out)-1]; first.Property != g.Property {
			errs = append(errs, fmt.Errorf("%s: guard %s: the name is taken by %s, which carries something else", g.Where(),
				g.Name,
				first.Where()))
		}
	}
	return out, errors.Join(errs...)
}

func (rows table) sqlGuards(file, text string) ([]Guard, error) {
	var found []Guard
	var errs []error
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		mark, isMark := strings.CutPrefix(strings.TrimSpace(line), sqlPrefix)
		if !isMark {
			continue
		}
		g, err := rows.parse(mark)
		if err == nil && (g.change.kind != never || g.change.x != "") {
			err = fmt.Errorf("guard %s: in SQL a guard is its line: no code in backquotes", g.Name)
		}
		if err == nil && (i+1 == len(lines) || leftOut(lines[i+1]) == lines[i+1]) {
			err = fmt.Errorf("guard %s: the line below is none that could be left out: it begins with no AND and is no clause",
				g.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, i+1, err))
			continue
		}
		g.File, g.Line = file, i+2
		found = append(found, g)
	}
	return found, errors.Join(errs...)
}

// WithoutLine is the text of a query without a guard, and whether it has one of this name. A
// condition stays where it is and holds always, so that the query takes the same arguments.
func WithoutLine(text, name string) (string, bool) {
	lines := strings.Split(text, "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(strings.TrimSpace(line), sqlPrefix+name+" ") {
			lines[i+1] = leftOut(lines[i+1])
			return strings.Join(lines, "\n"), true
		}
	}
	return text, false
}

// clauses are the beginnings of lines that are left out as they are.
var clauses = []string{"FOR ", "ON CONFLICT DO NOTHING"}

// leftOut is a line without what it guards; the line itself when nothing of it can be left out.
func leftOut(line string) string {
	code := strings.TrimSpace(line)
	indent := line[:strings.Index(line, code)]
	end := ""
	if cut, ok := strings.CutSuffix(code, "{{end}}"); ok {
		code, end = cut, "{{end}}"
	}
	if condition, ok := strings.CutPrefix(code, "AND "); ok {
		for strings.Count(condition, ")") > strings.Count(condition, "(") {
			condition, end = strings.TrimSuffix(condition, ")"), ")"+end
		}
		return indent + "AND (" + condition + " OR true)" + end
	}
	for _, c := range clauses {
		if strings.HasPrefix(code, c) {
			return indent + end
		}
	}
	return line
}
