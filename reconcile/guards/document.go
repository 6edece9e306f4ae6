package guards

import (
	"fmt"
	"strings"
)

const intro = `# Guards

A guard is whatever keeps sandkeeper from harming something, from doing it twice, from losing
or repeating it, from starving or from lying. Each is marked in the code, where it stands, by
a comment that begins with ` + "`guard:`" + ` and its name; what it is for stands in
` + "`reconcile/guards/guards.txt`" + `. A test builds the program without it and sees
the property break that it carries; with it, all goes well. What nothing needs is not here.

This page is generated from the marks, from that file and from ` + "`reconcile/run/testdata/guards.txt`" + ` by
` + "`go generate ./reconcile/guards`" + `. ` + "`make guards`" + ` shows all of it again.
`

// says are the properties in words, in the order of the page.
var says = []struct{ property, words string }{
	{"P1", "Nothing foreign is touched"},
	{"P2", "No write to a row that is over or has moved"},
	{"P3", "Unknown is not gone"},
	{"P4", "Nothing is terminated without a second look"},
	{"P5", "No clock that the suspect can wind, and none of another state"},
	{"P6", "After an outage the timers restart"},
	{"P7", "Budgets and breakers hold"},
	{"P8", "Holds and pauses are respected everywhere"},
	{"P9", "What only observes changes nothing"},
	{"P10", "A probe disturbs nothing"},
	{"P11", "One stuck item stops no other"},
	{"P12", "One decision on each subject, and no false zero"},
	{"P13", "The janitor's own silence is loud"},
	{"P14", "A sign of life vetoes"},
	{"P15", "No tenant harms another, or holds up its repair"},
	{"harm", "Healthy work is not harmed"},
	{"once", "Nothing is done twice"},
	{"lost", "Nothing is lost or reported wrongly"},
	{"live", "When the faults stop, everything is repaired"},
}

// A Part is the guards of one place, Go code or SQL, with their witnesses.
type Part struct {
	Title     string
	Guards    []Guard
	Witnesses []Witness
}

// Document is the page about all guards.
func Document(parts ...Part) string {
	var out strings.Builder
	out.WriteString(intro)
	for _, part := range parts {
		of := map[string][]string{}
		for _, w := range part.Witnesses {
			of[w.Guard] = append(of[w.Guard], w.Kind+" `"+w.What+"`")
		}
		fmt.Fprintf(&out, "\n## %s: %d\n", part.Title, len(part.Guards))
		for _, p := range says {
			writeProperty(&out, p.property, p.words, part.Guards, of)
		}
	}
	return out.String()
}

func writeProperty(out *strings.Builder, property, words string, all []Guard, of map[string][]string) {
	first := true
	for i := range all {
		g := &all[i]
		if g.Property != property {
			continue
		}
		if first {
			fmt.Fprintf(out, "\n### %s: %s\n\n| guard | without it | where | shown by |\n|---|---|---|---|\n", property, words)
			first = false
		}
		shown := "nothing yet"
		if list := of[g.Name]; len(list) > 0 {
			shown = strings.ReplaceAll(strings.Join(list, ", "), "|", "\\|")
		}
		fmt.Fprintf(out, "| `%s` | %s | `%s` | %s |\n", g.Name, strings.ReplaceAll(g.Says, "|", "\\|"), g.place(), shown)
	}
}
