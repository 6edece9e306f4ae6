package sqltext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Words are what the names in a user's SQL stand for. The types are given, so that the
// server never has to guess them; the time is the statement's own, of the database.
var Words = map[string]string{"now": "statement_timestamp()", "reason": "@reason::text"}

// An Expression is a piece of a user's SQL on its way to a statement.
type Expression struct {
	src     string
	lead    int // characters before src, which were blank
	pos     int
	open    []int // where the parentheses and brackets began that are still open
	parts   int   // things outside of every parenthesis; one pair of them counts as one
	out     strings.Builder
	Named   map[string]bool
	also    map[string]string // names that are known here besides words
	Problem string
}

// Scan checks that the text is one expression that cannot reach out of the
// parentheses that it will stand in, and replaces the names in it.
func Scan(sql string) *Expression { return scan(sql, nil) }

// ScanStatement checks that the text is one statement that changes rows, and replaces the names in it. What is
// changed is up to the config and to the login's grants.
func ScanStatement(sql string) *Expression {
	e := scan(sql, map[string]string{"id": "@id::text"})
	first := strings.ToUpper(e.src[:wordLength(e.src)])
	if e.Problem == "" && !slices.Contains(changing, first) {
		e.Problem = "is no statement that changes rows: it begins with none of " + strings.Join(changing, ", ")
	}
	return e
}

// changing are the words that a statement of fail.sql may begin with.
var changing = []string{"INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "CALL"}

func scan(sql string, also map[string]string) *Expression {
	e := &Expression{src: strings.TrimSpace(sql), Named: map[string]bool{}, also: also}
	e.lead = utf8.RuneCountInString(sql[:strings.Index(sql, e.src)])
	if !text.Storable(sql) {
		e.Problem = "is not plain text"
		return e
	}
	if e.src == "" {
		e.Problem = "is empty"
	}
	for e.pos < len(e.src) && e.Problem == "" {
		e.step()
	}
	if n := len(e.open); e.Problem == "" && n > 0 {
		e.wrong("has a parenthesis or bracket that is not closed", e.open[n-1])
	}
	return e
}

// SQL is the expression as it goes into parentheses of a statement.
func (e *Expression) SQL() string { return e.out.String() }

// Whole is the expression as it goes anywhere.
func (e *Expression) Whole() string {
	if e.enclosed() {
		return e.SQL()
	}
	return "(" + e.SQL() + ")"
}

// enclosed reports whether one pair of parentheses holds it all: what begins and ends with
// one may still be two, as (a) OR (b).
func (e *Expression) enclosed() bool { return e.parts == 1 && strings.HasPrefix(e.src, "(") }

// Whole is a user's expression as it goes into another one, its names still in it.
func Whole(text string) string {
	if e := Scan(text); e.Problem != "" || e.enclosed() {
		return text // a problem is said when it is compiled
	}
	return "(" + text + ")"
}

// wrong notes a problem with its place, counted in characters from 1.
func (e *Expression) wrong(problem string, at int) {
	e.Problem = fmt.Sprintf("%s, at character %d", problem, e.lead+utf8.RuneCountInString(e.src[:at])+1)
}

func (e *Expression) step() {
	c := e.src[e.pos]
	if len(e.open) == 0 && !isBlank(c) {
		e.parts++
	}
	switch {
	case c == '\'' || c == '"':
		e.quoted(c)
	case isWordStart(c):
		e.word()
	case c >= '0' && c <= '9':
		e.number()
	case c == '@' && e.pos+1 < len(e.src) && isWordStart(e.src[e.pos+1]):
		e.name()
	default:
		e.sign(c)
	}
}

// sign takes a character that is neither quoted nor part of a word.
func (e *Expression) sign(c byte) {
	rest := e.src[e.pos:]
	switch {
	case c == ';':
		e.wrong("contains a semicolon: it must be one expression", e.pos)
	case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "/*"):
		e.wrong("contains a comment", e.pos)
	case c == '$':
		e.wrong("contains a $: neither dollar quotes nor numbered parameters are allowed", e.pos)
	case c == '(', c == '[':
		e.open = append(e.open, e.pos)
	case c == ')', c == ']':
		e.close(c)
	}
	e.take(1)
}

// closes are the signs that open what the sign closes.
var closes = map[byte]byte{')': '(', ']': '['}

func (e *Expression) close(c byte) {
	last := len(e.open) - 1
	if last < 0 || e.src[e.open[last]] != closes[c] {
		e.wrong(fmt.Sprintf("closes with %c what it did not open with %c", c, closes[c]), e.pos)
		return
	}
	e.open = e.open[:last]
}

func (e *Expression) take(n int) {
	e.out.WriteString(e.src[e.pos : e.pos+n])
	e.pos += n
}

// quoted takes a string or a quoted identifier. A doubled quote ends it and begins it
// again, which comes to the same.
func (e *Expression) quoted(quote byte) {
	end := strings.IndexByte(e.src[e.pos+1:], quote)
	if end < 0 {
		e.wrong("has a quote that is not closed", e.pos)
		return
	}
	e.take(end + 2)
}

func (e *Expression) word() {
	n := wordLength(e.src[e.pos:])
	if word := e.src[e.pos : e.pos+n]; strings.EqualFold(word, "e") && strings.HasPrefix(e.src[e.pos+n:], "'") {
		e.wrong("contains an escape string E'…': write a plain string", e.pos)
	}
	e.take(n)
}

var numeral = regexp.MustCompile(`^(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|` +
	`[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9][0-9_]*)?)`)

// number refuses what older servers read as a number with something behind it, which might
// be an escape string, as 1e1e'…'.
func (e *Expression) number() {
	n := len(numeral.FindString(e.src[e.pos:]))
	if end := e.pos + n; end < len(e.src) && isWordStart(e.src[end]) {
		e.wrong("has a number that runs into a word", e.pos)
		return
	}
	e.take(n)
}

// name replaces @now or @reason. What stands there instead never grows together with what
// stands before it.
func (e *Expression) name() {
	n := wordLength(e.src[e.pos+1:])
	name := e.src[e.pos+1 : e.pos+1+n]
	sql, known := Words[name]
	if !known {
		sql, known = e.also[name]
	}
	if !known {
		e.wrong("names @"+name+": only @reason and @now are known", e.pos)
		return
	}
	e.Named[name] = true
	if e.pos > 0 && !isBlank(e.src[e.pos-1]) && !strings.ContainsRune("(,[", rune(e.src[e.pos-1])) {
		e.out.WriteByte(' ')
	}
	e.out.WriteString(sql)
	e.pos += 1 + n
}

func isBlank(c byte) bool { return strings.IndexByte(" \t\n\r\f\v", c) >= 0 }

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

// InParentheses reports whether a mapped value is an expression and not a column.
func InParentheses(value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")")
}

// Identifier splits schema.table or a column into its parts. Parts may be quoted as in
// SQL; one that is not is taken as it stands, also its upper-case letters.
func Identifier(text string) (pgx.Identifier, string) {
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

func identifierPart(sql string) (part, left, problem string) {
	if quoted, ok := strings.CutPrefix(sql, `"`); ok {
		return quotedPart(quoted)
	}
	end := strings.IndexByte(sql, '.')
	if end < 0 {
		end = len(sql)
	}
	part, left = sql[:end], sql[end:]
	switch {
	case part == "":
		return "", "", "is empty or has an empty part"
	case strings.ContainsAny(part, "()'\"+*/;:,=<>@") || !text.Storable(part):
		return "", "", "is no column name; an SQL expression must stand in parentheses"
	}
	return part, left, ""
}

func quotedPart(sql string) (part, left, problem string) {
	for from := 0; ; {
		end := strings.IndexByte(sql[from:], '"')
		if end < 0 {
			return "", "", "has a quote that is not closed"
		}
		from += end + 1
		if !strings.HasPrefix(sql[from:], `"`) {
			part = strings.ReplaceAll(sql[:from-1], `""`, `"`)
			break
		}
		from++
	}
	if part == "" || !text.Storable(part) {
		return "", "", "is empty or has an empty part"
	}
	return part, sql[len(strings.ReplaceAll(part, `"`, `""`))+1:], ""
}
