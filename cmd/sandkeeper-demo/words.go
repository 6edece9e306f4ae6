package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// wrapped breaks a text into lines that begin below its first one.
func wrapped(text string) string {
	const width, indent = 88, 17
	var out strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		long := len([]rune(word))
		switch {
		case column == 0:
		case column+1+long > width:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += long
	}
	return out.String()
}

// kindOf is the beginning of a reason without its numbers: what stays the same while the
// reason does.
func kindOf(reason string) string {
	reason, _, _ = strings.Cut(reason, ";")
	words := slices.DeleteFunc(strings.Fields(reason), func(w string) bool { return strings.ContainsAny(w, "0123456789") })
	return strings.Join(words[:min(len(words), 5)], " ")
}

// stepWords is what steps do, for people.
func stepWords(step reconcile.Step, n int) string {
	things := "sandboxes"
	if n == 1 {
		things = "sandbox"
	}
	switch step {
	case reconcile.StepTerminate:
		return fmt.Sprintf("%d %s terminated", n, things)
	case reconcile.StepQuarantine:
		return fmt.Sprintf("%d %s stopped, to be terminated later", n, things)
	case reconcile.StepResume:
		return fmt.Sprintf("%d %s brought back", n, things)
	case reconcile.StepRequeue:
		return console.Plural(n, "task") + " given back"
	case reconcile.StepFail:
		return console.Plural(n, "task") + " failed"
	}
	return fmt.Sprintf("%d times %s", n, step)
}

// A group counts what belongs together, in the order in which it was met.
type group struct {
	order []string
	count map[string]int
	first map[string]string
}

// add counts a thing under its heading, unless it was said before.
func (g *group) add(said map[string]bool, thing, heading, words string) {
	if said[thing] {
		return
	}
	said[thing] = true
	if g.count == nil {
		g.count, g.first = map[string]int{}, map[string]string{}
	}
	if g.count[heading] == 0 {
		g.order = append(g.order, heading)
		g.first[heading] = words
	}
	g.count[heading]++
}

// width is how many characters of a text fit into a line.
const width = 170
