package ui

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// mostEvidence is how many facts of one thing a page shows.
const mostEvidence = 20

// An EvidenceLine is one fact. Its time is of the source's own clock, so it has no age.
type EvidenceLine struct {
	Source string
	At     Moment
	Fact   Linked
	Block  string // what is too long for a line
}

// EvidenceLines are the facts of a finding, an action or an incident. An id in them is a link where it is that of a
// subject that the verdict or the fact is known to be about.
func EvidenceLines(all []reconcile.Evidence, about ...string) []EvidenceLine {
	var lines []EvidenceLine
	for _, e := range all[:min(len(all), mostEvidence)] {
		l := EvidenceLine{Source: Name(e.Source), At: Exactly(e.At)}
		var fact string
		fact, l.Block = Inline(e.Fact)
		l.Fact = Linking(fact, append(about[:len(about):len(about)], e.About)...)
		lines = append(lines, l)
	}
	return lines
}

// Linked is a sentence in which the names of some subjects are links.
type Linked []Link

// leastLinked is the shortest id that is looked for in a sentence: shorter ones are words and numbers as well.
const leastLinked = 6

// Linking makes links of the ids of these subjects where a clean line names them.
func Linking(line string, subjects ...string) Linked {
	var out Linked
	for line != "" {
		at, id, href := len(line), "", ""
		for _, s := range subjects {
			name := Name(reconcile.ParseSubject(s).ID)
			if found := wholeWord(line, name); found >= 0 && found < at && SubjectAddress(s) != "" {
				at, id, href = found, name, SubjectAddress(s)
			}
		}
		if at > 0 {
			out = append(out, Link{Text: line[:at]})
		}
		if id != "" {
			out = append(out, Link{Text: id, Href: href})
		}
		line = line[at+len(id):]
	}
	return out
}

// wholeWord is where the line has the id as a word of its own; -1 for nowhere.
func wholeWord(line, id string) int {
	if len(id) < leastLinked {
		return -1
	}
	for from := 0; ; {
		found := strings.Index(line[from:], id)
		if found < 0 {
			return -1
		}
		before, _ := utf8.DecodeLastRuneInString(line[:from+found])
		after, _ := utf8.DecodeRuneInString(line[from+found+len(id):])
		if !ofWord(before) && !ofWord(after) {
			return from + found
		}
		from += found + len(id)
	}
}

func ofWord(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// HTML is the sentence; up leads to the first page.
func (l Linked) HTML(up string) string {
	var b strings.Builder
	for _, part := range l {
		if part.Href == "" {
			b.WriteString(html.EscapeString(part.Text))
			continue
		}
		b.WriteString(`<a href="` + html.EscapeString(up+part.Href) + `">` + html.EscapeString(part.Text) + "</a>")
	}
	return b.String()
}
