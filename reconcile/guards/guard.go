package guards

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Guard is one mark.
type Guard struct {
	Name     string
	Property string // P1 to P15, harm, once, lost or live
	Says     string // what would happen without it
	File     string // from the root, with slashes
	Line     int    // of what is guarded
	Func     string // in which function, "" when in none
	change   change
	number   int // in the switch; from 1
}

// A change is what leaving a guard out means.
type change struct {
	kind kind
	x, y string // expressions
}

type kind int

const (
	never   kind = iota // the condition never holds, the statement is skipped
	operand             // one operand is left out
	value               // one expression has another value
	whole               // condition, answer or assigned value are others
)

// Properties are what a guard may carry: those of the design by number, and those of the
// simulation.
var Properties = []string{
	"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13", "P14", "P15",
	"harm", "once", "lost", "live",
}

const prefix = "//guard:"

var (
	markForm = regexp.MustCompile("^([a-z0-9]+(?:-[a-z0-9]+)*) ([A-Za-z0-9]+)$")
	errMark  = errors.New("a mark reads `guard:NAME PROPERTY`; what would happen without it stands in " + Table)
)

// parse reads what follows "guard:" in a mark; its row says the rest.
func (rows table) parse(text string) (Guard, error) {
	parts := markForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return Guard{}, errMark
	}
	g, found := rows[parts[1]]
	if g.Name, g.Property = parts[1], parts[2]; !slices.Contains(Properties, g.Property) {
		return Guard{}, fmt.Errorf("guard %s: no such property: %s; there are %s", g.Name, g.Property,
			strings.Join(Properties, ", "))
	}
	if !found {
		return Guard{}, fmt.Errorf("guard %s: it has no row in %s: say there what would happen without it", g.Name, Table)
	}
	return g, nil
}

// changeOf reads what stands in backquotes.
func changeOf(code string) change {
	code = strings.TrimSpace(code)
	if x, y, found := strings.Cut(code, " => "); found {
		return change{value, strings.TrimSpace(x), strings.TrimSpace(y)}
	}
	if y, found := strings.CutPrefix(code, "= "); found {
		return change{whole, "", strings.TrimSpace(y)}
	}
	if x, found := strings.CutPrefix(code, "-"); found {
		return change{operand, strings.TrimSpace(x), ""}
	}
	return change{kind: never, x: code} // x is only set where it is no change at all
}

// Where is file and line of what is guarded.
func (g *Guard) Where() string { return fmt.Sprintf("%s:%d", g.File, g.Line) }

// place is file and function: it stays the same when lines move.
func (g *Guard) place() string {
	if g.Func == "" {
		return g.File
	}
	return g.File + ", " + g.Func
}
