package ui

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// A Repeated is a sentence that was said once or often.
type Repeated struct {
	Text    string
	Times   int
	Example bool // the others differ in ids and numbers
}

// numbered is a word with a digit in it: an id, a number, a time.
var numbered = regexp.MustCompile(`\S*[0-9]\S*`)

// Alike are foreign sentences, the most frequent first, and how many nouns more there are. Those that differ only in
// ids and numbers are one with the first as the example.
func Alike(noun string, said []string, most int) (lines []Repeated, more string) {
	at := map[string]int{}
	for _, one := range said {
		text := Sentence(Capital(Line(one)))
		alike := numbered.ReplaceAllString(text, "#")
		i, seen := at[alike]
		if !seen {
			at[alike] = len(lines)
			lines = append(lines, Repeated{Text: text, Times: 1})
			continue
		}
		lines[i].Times++
		lines[i].Example = lines[i].Example || lines[i].Text != text
	}
	slices.SortFunc(lines, func(a, b Repeated) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Text, b.Text))
	})
	if left := len(lines) - most; left > 0 {
		more = fmt.Sprintf("And %d more %s.", left, Verb(left, noun, noun+"s"))
	}
	return lines[:min(len(lines), most)], more
}
