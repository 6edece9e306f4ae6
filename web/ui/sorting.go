package ui

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A sorting puts a list in another order: by the heads of its table, and by the choice of an order above it, which is
// there for a phone as well.
type sorting struct {
	Keys  []string // the column of each head; "" when it puts nothing in order
	Now   string   // the order that the list has, as Chosen has it
	Hrefs []string // where each head leads; "" when nowhere
}

// SortingOf is how a list may be put in order. Of each head it knows the column.
func SortingOf(page string, c *reconcile.Chosen, keys ...string) *sorting {
	usual := reconcile.Sorts(page, c.State)
	if page == "incidents" && c.Sort == "" {
		usual = append([]string{""}, usual...) // those that are open come first, whatever their age
	}
	if len(usual) == 0 {
		return nil
	}
	s := &sorting{Keys: keys, Now: reconcile.FirstOf(c.Sort, usual[0]), Hrefs: make([]string, len(keys))}
	for i, key := range keys {
		if sort := (&reconcile.Chosen{State: c.State, Sort: key}); key == "" || !sort.Sortable(page) {
			s.Keys[i] = ""
			continue
		}
		next := *c
		next.Sort = key
		if s.Now == key {
			next.Sort = "-" + key
		}
		s.Hrefs[i] = listAddress(page, &next, "")
	}
	return s
}

// href is where a head leads; "" when it puts nothing in order.
func (s *sorting) href(i int) string {
	if s == nil || i >= len(s.Hrefs) {
		return ""
	}
	return s.Hrefs[i]
}

// aria is the order of a head's column, in the words of aria-sort; "" when another one has it.
func (s *sorting) aria(i int) string {
	switch column, down := strings.CutPrefix(s.Now, "-"); {
	case s.Keys[i] == "" || s.Keys[i] != column:
		return ""
	case down:
		return "descending"
	}
	return "ascending"
}

// arrow shows the same to the eye.
func (s *sorting) arrow(i int) string {
	return map[string]string{"ascending": " ▲", "descending": " ▼"}[s.aria(i)]
}

// Order adds the choice of an order to a filter.
func (f *FilterForm) Order(page string, c *reconcile.Chosen) {
	columns := reconcile.Sorts(page, c.State)
	if len(columns) == 0 {
		return
	}
	all := []Option{{"", "usual"}}
	for _, column := range columns {
		by, back := "by "+column, "by "+column+", from the end"
		if column == "age" {
			by, back = "youngest first", "oldest first"
		}
		all = append(all, Option{column, by}, Option{"-" + column, back})
	}
	f.Add("sort", "Order", c.Sort, all...)
}

// NextPart leads to the part after this one of a list, with the same choice.
func NextPart(page string, c *reconcile.Chosen, next string) *Link {
	if next == "" {
		return nil
	}
	return &Link{"The next ones", listAddress(page, c, next)}
}

// listAddress is a list with its choice and its order, from a part on.
func listAddress(page string, c *reconcile.Chosen, after string) string {
	return Asking(page, "state", c.State, "rule", c.Rule, "provider", c.Provider, "held_by", c.HeldBy,
		"step", string(c.Step), "outcome", string(c.Outcome), "author", c.Author, "incident", c.Incident,
		"template", c.Template, "text", c.Text, "sort", c.Sort, "after", after)
}

// CountWords are a number of a list that may go on.
func CountWords(n int, more bool, noun string) string {
	if more {
		return fmt.Sprintf("%d shown, and more follow", n)
	}
	return Count(n, noun)
}
