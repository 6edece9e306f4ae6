package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Sheet is a page besides the first one: what stands around it, a headline and blocks.
type Sheet struct {
	Frame
	Head    Headline
	Filters *FilterForm
	Blocks  []Block
}

// A Headline says what a page is about and how that stands.
type Headline struct {
	Level  Level
	Word   string // "running"; "" for none
	Text   string
	ID     string // a whole id that follows the text
	Below  string
	Below2 *Cell
	Acts   []Act
}

// A Block is a card of a page: a title, and one or more of the rest.
type Block struct {
	ID       string // its anchor
	Title    string
	Aside    string
	Half     bool // two of them stand side by side
	Chart    string
	Pairs    []Pair
	Grid     *Grid
	Words    []string
	Commands []ShellLine
	Log      string
	HTML     string // of a runbook, ours
	Empty    string // what is said when there is nothing
	Acts     []Act
}

// A ShellLine is a line for the shell with what it does.
type ShellLine struct{ Says, Line string }

// A Pair is a fact with its name.
type Pair struct {
	Name string
	Cell
}

// PairOf is one fact with its name.
func PairOf(name string, c Cell) Pair { return Pair{name, c} }

// A Grid is a table. On a phone each row is a stack, so each cell knows its head.
type Grid struct {
	Caption string
	Heads   []string
	Sort    *sorting // nil when it has one order alone
	Rows    []Row
	More    *Link // to the part after it
	Empty   string
}

// A Row is a line of a grid, with what is folded under it.
type Row struct {
	Key      string
	Cells    []Cell
	Evidence []EvidenceLine
	Block    string
	Fold     string // what is folded under it, where that is not evidence
}

// A Cell is one text with what it is.
type Cell struct {
	Text  string
	ID    string // an id instead of a text: short to the eye, whole when copied
	Href  string // relative to the first page
	Level Level  // with Chip: its colour
	Chip  bool
	When  Moment // a time instead of a text
	Num   bool
	Sub   string // a second line
	Acts  []Act
	More  []Cell
	Words Linked // a sentence with links in it, instead of a text
}

// A Link leads to another page.
type Link struct{ Text, Href string }

// A FilterForm asks for a page again with a query. It needs no script.
type FilterForm struct {
	Action string
	Fields []field
	Clear  bool // some are set
}

// A field of a filter: a choice, or a text when there are no options.
type field struct {
	Name, Label, Value string
	Options            []Option
}

// An Option is one choice of a field.
type Option struct{ Value, Text string }

// Said is a foreign sentence.
func Said(s string) Cell { return Cell{Text: Line(s)} }

// Named is a foreign name.
func Named(s string) Cell { return Cell{Text: Name(s)} }

// Chip is a word with its colour and its sign.
func Chip(l Level, word string) Cell { return Cell{Chip: true, Level: l, Text: word} }

// Number is a count.
func Number(n int) Cell { return Cell{Text: fmt.Sprint(n), Num: true} }

// When is a moment.
func When(m Moment) Cell { return Cell{When: m} }

// To makes the cell a link.
func (c Cell) To(href string) Cell { c.Href = href; return c }

// Below puts a second line under it.
func (c Cell) Below(sub string) Cell { c.Sub = sub; return c }

// TaskCell is a task with its page; nothing without an id.
func TaskCell(id string) Cell {
	if id == "" {
		return Cell{}
	}
	return Cell{ID: Name(id), Href: TaskAddress(id)}
}

// SandboxCell is a sandbox with its page; nothing without an id.
func SandboxCell(provider, id string) Cell {
	if id == "" {
		return Cell{}
	}
	return Cell{ID: Name(provider + "/" + id), Href: SandboxAddress(provider, id)}
}

// TemplateCell is a template with what was made from it; nothing without a name.
func TemplateCell(provider, name string) Cell {
	if name == "" {
		return Cell{}
	}
	return Named(name).To(Asking("sandboxes", "provider", provider, "template", name))
}

// IncidentCell is an incident with its page.
func IncidentCell(id string) Cell {
	return Cell{ID: Name(id), Href: Address("incidents", id)}
}

// RuleCell is a rule with its page.
func RuleCell(rule string) Cell { return Named(rule).To(RuleAddress(rule)) }

// SubjectCell is a subject with its page.
func SubjectCell(subject string) Cell {
	of := reconcile.ParseSubject(subject)
	c := Cell{Text: Name(string(of.Type)) + " ", ID: Name(of.Within()),
		Href: SubjectAddress(subject)}
	if of.Type == "" {
		c.Text = ""
	}
	return c
}

// SizeCell says how large a sandbox is.
func SizeCell(s reconcile.Size) Cell {
	var parts []string
	for _, one := range []struct {
		many float64
		unit string
	}{{s.CPU, "CPU"}, {s.GPU, "GPU"}, {s.MemoryGiB, "GiB"}} {
		if one.many > 0 {
			parts = append(parts, strconv.FormatFloat(one.many, 'f', -1, 32)+" "+one.unit)
		}
	}
	return Cell{Text: strings.Join(parts, ", ")}
}

// shortID is how much of an id is seen.
const shortID = 18

// IdParts are what is seen of an id, and the rest, which is copied with it.
func IdParts(id string) (seen, rest string) {
	runes := []rune(id)
	if len(runes) <= shortID+4 {
		return id, ""
	}
	return string(runes[:shortID]), string(runes[shortID:])
}

// Add adds a field; one with options is a choice.
func (f *FilterForm) Add(name, label, value string, options ...Option) {
	f.Fields = append(f.Fields, field{name, label, Name(value), options})
	f.Clear = f.Clear || value != ""
}

// Options are values that are said as they are, with one for all before them.
func Options(all string, values ...string) []Option {
	out := []Option{{"", all}}
	for _, v := range values {
		clean := Name(v)
		out = append(out, Option{clean, clean})
	}
	return out
}

// With adds words after an id.
func (c Cell) With(words string) Cell {
	c.More = append(c.More, Cell{Text: words})
	return c
}
