package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A ConfigError is one mistake in the config file, or one warning.
type ConfigError struct {
	File         string
	Line, Column int    // 1-based; 0 when the mistake has no place in the file
	Key          string // "providers[0].owns"; "" for the file as a whole
	Problem, Fix string // never hold a secret nor the value of a variable
}

// Error is the form file:line:column: key: problem; fix.
func (e ConfigError) Error() string {
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
	return strings.Map(visible, b.String())
}

// visible keeps a text on one line and in its direction, whatever is in it, and nothing in it
// that only programs see. What joins letters stays: scripts and emoji need it.
func visible(r rune) rune {
	const joiner, nonJoiner = '\u200d', '\u200c'
	switch {
	case r == joiner, r == nonJoiner:
		return r
	case unicode.IsControl(r), unicode.In(r, unicode.Zl, unicode.Zp, unicode.Cf):
		return ' '
	}
	return r
}

// ConfigErrors are all mistakes of a file, in the order of its lines.
type ConfigErrors []ConfigError

// Error is one line for each mistake.
func (es ConfigErrors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

func (es ConfigErrors) sorted() ConfigErrors {
	slices.SortStableFunc(es, func(a, b ConfigError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Problem, b.Problem))
	})
	return es
}

// A filePlace is where something stands in the file, 1-based.
type filePlace struct{ line, column int }

// A configReport collects what is wrong with a file, and where its keys stand.
type configReport struct {
	file           string
	at             map[string]filePlace // where each given key stands
	bad            map[string]bool      // keys whose value could not be read: no more is said of them
	raw            map[string]string    // values as the file has them, variables not expanded
	held           map[string][]string  // what the variables in a value stood for
	errs, warnings ConfigErrors
}

func newConfigReport(file string) *configReport {
	return &configReport{
		file: file, at: map[string]filePlace{"": {1, 1}}, bad: map[string]bool{}, raw: map[string]string{},
		held: map[string][]string{},
	}
}

// given reports whether the file has the key, readable or not.
func (r *configReport) given(key string) bool {
	_, ok := r.at[key]
	return ok
}

// unreadable reports whether something in the section could not be read.
func (r *configReport) unreadable(section string) bool {
	for key := range r.bad {
		if key == section || strings.HasPrefix(key, section+".") {
			return true
		}
	}
	return false
}

// locate is where the key stands, else the nearest section around it.
func (r *configReport) locate(key string) filePlace {
	for {
		if p, ok := r.at[key]; ok {
			return p
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
}

// fail reports a mistake at the place of its key. A key that could not even be read is
// not complained about twice.
func (r *configReport) fail(key, problem, fix string) {
	if !r.bad[key] {
		r.failAt(r.locate(key), ConfigError{Key: key, Problem: problem, Fix: fix})
	}
}

// quote is the key's value as the file has it: what a variable holds is never shown.
func (r *configReport) quote(key string) string { return strconv.Quote(clipped(r.raw[key])) }

func (r *configReport) failAt(p filePlace, e ConfigError) {
	e.File, e.Line, e.Column = r.file, p.line, p.column
	r.errs = append(r.errs, e)
}

func (r *configReport) warn(key, problem, fix string) {
	p := r.locate(key)
	r.warnings = append(r.warnings,
		ConfigError{File: r.file, Line: p.line, Column: p.column, Key: key, Problem: problem, Fix: fix})
}

func (r *configReport) sorted() ConfigErrors { return r.errs.sorted() }

// unknownWord is the mistake of a key or word that is none of those that are known, with the nearest.
func unknownWord(what, word string, known []string) (problem, fix string) {
	problem = fmt.Sprintf("unknown %s %q", what, clipped(word))
	if near := nearest(word, known); near != "" {
		return problem, didYouMean(near)
	}
	if len(known) == 0 {
		return problem, "remove it"
	}
	return problem, "known are " + strings.Join(known, ", ")
}

func didYouMean(near string) string { return fmt.Sprintf("did you mean %q?", near) }

// misspelt reports whether a key that is none of the section's seems to stand for one of the
// names: that it is missing need not be said as well.
func (r *configReport) misspelt(section string, names ...string) bool {
	return slices.ContainsFunc(r.errs, func(e ConfigError) bool {
		return e.Key == section && slices.ContainsFunc(names, func(n string) bool { return e.Fix == didYouMean(n) })
	})
}

// meant are keys as others call them.
var meant = map[string]string{
	"api_key": "token", "apikey": "token", "key": "token", "api_token": "token", "access_token": "token",
	"base_url": "url", "endpoint": "url", "host": "url", "type": "kind", "org": "organization", "organization": "org",
}

// nearest is the known word that the given one most likely stands for: one that begins
// alike, else the one with the fewest letters to change; "" when none is near.
func nearest(word string, known []string) string {
	word = strings.ToLower(word)
	if len(word) < 2 {
		return ""
	}
	if k := meant[word]; slices.Contains(known, k) {
		return k
	}
	best, least := "", (len(word)+1)/3+1
	for _, k := range known {
		if len(word) >= 4 && (strings.HasPrefix(k, word) || strings.HasPrefix(word, k)) {
			return k
		}
		if d := editDistance(word, k, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance counts the letters to insert, remove or change, and swapped neighbours
// once, to make b of a. It gives up at limit.
func editDistance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// clipped keeps a word from the file short enough for one line.
func clipped(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
