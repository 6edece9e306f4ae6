package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An Error is one mistake in the config file, or one warning.
type Error struct {
	File         string
	Line, Column int    // 1-based; 0 when the mistake has no place in the file
	Key          string // "providers[0].owns"; "" for the file as a whole
	Problem, Fix string // never hold a secret nor the value of a variable
}

// Error is the form file:line:column: key: problem; fix.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return text.Line(b.String())
}

// Errors are all mistakes of a file, in the order of its lines.
type Errors []Error

// Error is one line for each mistake.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

func (es Errors) sorted() Errors {
	slices.SortStableFunc(es, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Problem, b.Problem))
	})
	said := map[Error]bool{}
	return slices.DeleteFunc(es, func(e Error) bool {
		e.Key = inEntry.ReplaceAllString(e.Key, "providers[]")
		twice := said[e]
		said[e] = true
		return twice
	})
}

// inEntry is where a key tells of which copy of an entry it is: what is wrong in all is said once.
var inEntry = regexp.MustCompile(`^providers\[\d+\]`)

// A filePlace is where something stands in the file, 1-based.
type filePlace struct{ line, column int }

// A report collects what is wrong with a file, and where its keys stand.
type report struct {
	file           string
	at             map[string]filePlace // where each given key stands
	bad            map[string]bool      // keys whose value could not be read: no more is said of them
	raw            map[string]string    // values as the file has them, variables not expanded
	held           map[string][]string  // what the variables in a value stood for
	errs, warnings Errors
}

func newReport(file string) *report {
	return &report{
		file: file, at: map[string]filePlace{"": {1, 1}}, bad: map[string]bool{}, raw: map[string]string{},
		held: map[string][]string{},
	}
}

// given reports whether the file has the key, readable or not.
func (r *report) given(key string) bool {
	_, ok := r.at[key]
	return ok
}

// unreadable reports whether something in the section could not be read.
func (r *report) unreadable(section string) bool {
	for key := range r.bad {
		if key == section || strings.HasPrefix(key, section+".") {
			return true
		}
	}
	return false
}

// locate is where the key stands, else the nearest section around it.
func (r *report) locate(key string) filePlace {
	for {
		if p, ok := r.at[key]; ok {
			return p
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
}

// fail reports a mistake at the place of its key. A key that could not even be read is
// not complained about twice.
func (r *report) fail(key, problem, fix string) {
	if !r.bad[key] {
		r.failAt(r.locate(key), Error{Key: key, Problem: problem, Fix: fix})
	}
}

// quote is the key's value as the file has it: what a variable holds is never shown.
func (r *report) quote(key string) string { return strconv.Quote(clipped(r.raw[key])) }

func (r *report) failAt(p filePlace, e Error) {
	e.File, e.Line, e.Column = r.file, p.line, p.column
	r.errs = append(r.errs, e)
}

func (r *report) warn(key, problem, fix string) {
	p := r.locate(key)
	r.warnings = append(r.warnings,
		Error{File: r.file, Line: p.line, Column: p.column, Key: key, Problem: problem, Fix: fix})
}

func (r *report) sorted() Errors { return r.errs.sorted() }

// unknownWord is the mistake of a key or word that is none of those that are known, with the nearest.
func unknownWord(what, word string, known []string) (problem, fix string) {
	problem = fmt.Sprintf("unknown %s %q", what, clipped(word))
	if near := nearest(word, known); near != "" {
		return problem, text.DidYouMean(near)
	}
	if len(known) == 0 {
		return problem, "remove it"
	}
	return problem, "known are " + strings.Join(known, ", ")
}

// misspelt reports whether a key that is none of the section's seems to stand for one of the
// names: that it is missing need not be said as well.
func (r *report) misspelt(section string, names ...string) bool {
	return slices.ContainsFunc(r.errs, func(e Error) bool {
		return e.Key == section && slices.ContainsFunc(names, func(n string) bool { return e.Fix == text.DidYouMean(n) })
	})
}

// meant are keys as others call them.
var meant = map[string]string{
	"api_key": "token", "apikey": "token", "key": "token", "api_token": "token", "access_token": "token",
	"base_url": "url", "endpoint": "url", "host": "url", "type": "kind", "org": "organization", "organization": "org",
}

// nearest is the known word that the given one most likely stands for, also where it is what
// others call it.
func nearest(word string, known []string) string {
	if k := meant[strings.ToLower(word)]; slices.Contains(known, k) {
		return k
	}
	return text.Nearest(word, known)
}

// clipped keeps a word from the file short enough for one line.
func clipped(word string) string { return text.Cut(word, 60) }
