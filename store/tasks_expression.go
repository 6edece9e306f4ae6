package store

import (
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// words are what the names in a user's SQL stand for. The types are given, so that the
// server never has to guess them; the time is the statement's own, of the database.
var words = map[string]string{"now": "statement_timestamp()", "reason": "@reason::text"}

// An expression is a piece of a user's SQL on its way to a statement.
type expression struct {
	src     string
	pos     int
	depth   int // of parentheses
	out     strings.Builder
	named   map[string]bool
	problem string
}

// scanExpression checks that the text is one expression that cannot reach out of the
// parentheses that it will stand in, and replaces the names in it.
func scanExpression(text string) *expression {
	e := &expression{src: strings.TrimSpace(text), named: map[string]bool{}}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		e.problem = "is not plain text"
		return e
	}
	if e.src == "" {
		e.problem = "is empty"
	}
	for e.pos < len(e.src) && e.problem == "" {
		e.step()
	}
	if e.problem == "" && e.depth != 0 {
		e.problem = "has a parenthesis that is not closed"
	}
	return e
}

// SQL is the expression as it goes into a statement.
func (e *expression) SQL() string { return e.out.String() }

func (e *expression) step() {
	c := e.src[e.pos]
	switch {
	case c == '\'' || c == '"':
		e.quoted(c)
	case isWordStart(c):
		e.word()
	case c == '@' && e.pos+1 < len(e.src) && isWordStart(e.src[e.pos+1]):
		e.name()
	default:
		e.sign(c)
	}
}

// sign takes a character that is neither quoted nor part of a word.
func (e *expression) sign(c byte) {
	rest := e.src[e.pos:]
	switch {
	case c == ';':
		e.problem = "contains a semicolon: it must be one expression"
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"):
		e.problem = "contains a comment"
	case c == '$':
		e.problem = "contains a $: neither dollar quotes nor numbered parameters are allowed"
	case c == '(':
		e.depth++
	case c == ')':
		e.depth--
		if e.depth < 0 {
			e.problem = "closes a parenthesis that it did not open"
		}
	}
	e.take(1)
}

func (e *expression) take(n int) {
	e.out.WriteString(e.src[e.pos : e.pos+n])
	e.pos += n
}

// quoted takes a string or a quoted identifier. A doubled quote ends it and begins it
// anew, which comes to the same.
func (e *expression) quoted(quote byte) {
	end := strings.IndexByte(e.src[e.pos+1:], quote)
	if end < 0 {
		e.problem = "has a quote that is not closed"
		return
	}
	e.take(end + 2)
}

func (e *expression) word() {
	n := wordLength(e.src[e.pos:])
	if word := e.src[e.pos : e.pos+n]; strings.EqualFold(word, "e") && strings.HasPrefix(e.src[e.pos+n:], "'") {
		e.problem = "contains an escape string E'…': write a plain string"
	}
	e.take(n)
}

func (e *expression) name() {
	e.pos++
	n := wordLength(e.src[e.pos:])
	name := e.src[e.pos : e.pos+n]
	sql, known := words[name]
	if !known {
		e.problem = "names @" + name + ": only @reason and @now are known"
		return
	}
	e.named[name] = true
	e.out.WriteString(sql)
	e.pos += n
}

func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func wordLength(text string) int {
	n := 0
	for n < len(text) && (isWordStart(text[n]) || text[n] >= '0' && text[n] <= '9' || text[n] == '$') {
		n++
	}
	return n
}

// inParentheses reports whether a mapped value is an expression and not a column.
func inParentheses(value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")")
}

// identifier splits schema.table or a column into its parts. Parts may be quoted as in
// SQL; one that is not is taken as it stands, also its upper-case letters.
func identifier(text string) (pgx.Identifier, string) {
	var parts pgx.Identifier
	rest := strings.TrimSpace(text)
	for {
		part, left, problem := identifierPart(rest)
		if problem != "" {
			return nil, problem
		}
		parts = append(parts, part)
		if left == "" {
			return parts, ""
		}
		if left[0] != '.' {
			return nil, "is no name: " + text
		}
		rest = left[1:]
	}
}

func identifierPart(text string) (part, left, problem string) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		return quotedPart(quoted)
	}
	end := strings.IndexByte(text, '.')
	if end < 0 {
		end = len(text)
	}
	part, left = text[:end], text[end:]
	switch {
	case part == "":
		return "", "", "is empty or has an empty part"
	case strings.ContainsAny(part, "()'\"+*/;:,=<>@\x00") || !utf8.ValidString(part):
		return "", "", "is no column name; an SQL expression must stand in parentheses"
	}
	return part, left, ""
}

func quotedPart(text string) (part, left, problem string) {
	for from := 0; ; {
		end := strings.IndexByte(text[from:], '"')
		if end < 0 {
			return "", "", "has a quote that is not closed"
		}
		from += end + 1
		if !strings.HasPrefix(text[from:], `"`) {
			part = strings.ReplaceAll(text[:from-1], `""`, `"`)
			break
		}
		from++
	}
	if part == "" || strings.ContainsRune(part, 0) {
		return "", "", "is empty or has an empty part"
	}
	return part, text[len(strings.ReplaceAll(part, `"`, `""`))+1:], ""
}
