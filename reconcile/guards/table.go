package guards

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Table is the file, from the root, that says of each guard what would happen without it.
const Table = "reconcile/guards/guards.txt"

// A table has the rows by name: guards without property and place, which their marks have.
type table map[string]Guard

var rowForm = regexp.MustCompile("^([a-z0-9-]+) (?:`([^`]+)` )?([^` ][^`]*)$")

func readTable(root string) (table, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Table)))
	if err != nil {
		return nil, fmt.Errorf("read what the guards are for: %w", err)
	}
	rows := table{}
	var errs []error
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := rowForm.FindStringSubmatch(line)
		if parts == nil {
			errs = append(errs, fmt.Errorf("%s:%d: a row reads `NAME TEXT`, with `-X`, `X => Y` or `= Y` in backquotes "+
				"before the text where it needs one", Table, i+1))
			continue
		}
		if _, taken := rows[parts[1]]; taken {
			errs = append(errs, fmt.Errorf("%s:%d: guard %s has a row already", Table, i+1, parts[1]))
		}
		rows[parts[1]] = Guard{Says: parts[3], change: changeOf(parts[2])}
	}
	return rows, errors.Join(errs...)
}

// Unmarked are the names of rows that none of the guards has: nothing is marked with them.
func Unmarked(root string, all ...Guard) ([]string, error) {
	rows, err := readTable(root)
	for i := range all {
		delete(rows, all[i].Name)
	}
	return slices.Sorted(maps.Keys(rows)), err
}
