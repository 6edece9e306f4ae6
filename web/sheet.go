package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A sheet is a page besides the first one: what stands around it, a headline and blocks.
type sheet struct {
	frame
	Head    headline
	Filters *filterForm
	Blocks  []block
}

// A headline says what a page is about and how that stands.
type headline struct {
	Level  level
	Word   string // "running"; "" for none
	Text   string
	ID     string // a whole id that follows the text
	Below  string
	Below2 *cell
	Acts   []act
}

// A block is a card of a page: a title, and one or more of the rest.
type block struct {
	ID       string // its anchor
	Title    string
	Aside    string
	Half     bool // two of them stand side by side
	Chart    string
	Pairs    []pair
	Grid     *grid
	Words    []string
	Commands []command_
	Log      string
	HTML     string // of a runbook, ours
	Empty    string // what is said when there is nothing
	Acts     []act
}

// A command_ is a line for the shell with what it does.
type command_ struct{ Says, Line string }

// A pair is a fact with its name.
type pair struct {
	Name string
	cell
}

// A grid is a table. On a phone each row is a stack, so each cell knows its head.
type grid struct {
	Caption string
	Heads   []string
	Sort    *sorting // nil when it has one order alone
	Rows    []row
	More    *link // to the part after it
	Empty   string
}

// A row is a line of a grid, with what is folded under it.
type row struct {
	Key      string
	Cells    []cell
	Evidence []evidenceLine
	Block    string
}

// A cell is one text with what it is.
type cell struct {
	Text  string
	ID    string // an id instead of a text: short to the eye, whole when copied
	Href  string // relative to the first page
	Level level  // with Chip: its colour
	Chip  bool
	When  moment // a time instead of a text
	Num   bool
	Sub   string // a second line
	Acts  []act
	More  []cell
}

// A link leads to another page.
type link struct{ Text, Href string }

// A filterForm asks for a page again with a query. It needs no script.
type filterForm struct {
	Action string
	Fields []field
	Clear  bool // some are set
}

// A field of a filter: a choice, or a text when there are no options.
type field struct {
	Name, Label, Value string
	Options            []option
}

type option struct{ Value, Text string }

func said(s string) cell { return cell{Text: text.Plain(s, mostLine)} }

func named(s string) cell { return cell{Text: text.Plain(s, mostName)} }

func chip(l level, word string) cell { return cell{Chip: true, Level: l, Text: word} }

func number(n int) cell { return cell{Text: fmt.Sprint(n), Num: true} }

func when(m moment) cell { return cell{When: m} }

func (c cell) to(href string) cell { c.Href = href; return c }

func (c cell) below(sub string) cell { c.Sub = sub; return c }

func taskCell(id string) cell {
	if id == "" {
		return cell{}
	}
	return cell{ID: text.Plain(id, mostName), Href: taskAddress(id)}
}

func sandboxCell(provider, id string) cell {
	if id == "" {
		return cell{}
	}
	return cell{ID: text.Plain(provider+"/"+id, mostName), Href: sandboxAddress(provider, id)}
}

func incidentCell(id string) cell {
	return cell{ID: text.Plain(id, mostName), Href: address("incidents", id)}
}

func ruleCell(rule string) cell { return named(rule).to(ruleAddress(rule)) }

// subjectCell is a subject with its page.
func subjectCell(subject string) cell {
	of := reconcile.ParseSubject(subject)
	c := cell{Text: text.Plain(string(of.Type), mostName) + " ", ID: text.Plain(of.Within(), mostName),
		Href: subjectAddress(subject)}
	if of.Type == "" {
		c.Text = ""
	}
	return c
}

// shortID is how much of an id is seen.
const shortID = 18

// idParts are what is seen of an id, and the rest, which is copied with it.
func idParts(id string) (seen, rest string) {
	runes := []rune(id)
	if len(runes) <= shortID+4 {
		return id, ""
	}
	return string(runes[:shortID]), string(runes[shortID:])
}

// chosen marks an option.
func (f *filterForm) add(name, label, value string, options ...option) {
	f.Fields = append(f.Fields, field{name, label, text.Plain(value, mostName), options})
	f.Clear = f.Clear || value != ""
}

// options are values that are said as they are, with one for all before them.
func options(all string, values ...string) []option {
	out := []option{{"", all}}
	for _, v := range values {
		clean := text.Plain(v, mostName)
		out = append(out, option{clean, clean})
	}
	return out
}
