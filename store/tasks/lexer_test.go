package tasks

import (
	"fmt"
	"strings"
)

// A token is a piece of SQL as the server's scanner cuts it, with standard strings.
type token struct{ kind, text string }

func (t token) String() string { return t.kind + " " + t.text }

// lex cuts SQL into tokens by the rules of PostgreSQL's manual ("Lexical Structure"), apart
// from the scanner that it checks: it knows comments, escape strings, dollar quotes and
// parameters, which that one refuses.
func lex(sql string) ([]token, error) {
	var out []token
	for rest := sql; ; {
		rest = strings.TrimLeft(rest, " \t\n\r\f\v")
		if rest == "" {
			return out, nil
		}
		kind, n := lexOne(rest)
		if n <= 0 || n > len(rest) {
			return out, fmt.Errorf("an open %s at %q", kind, rest)
		}
		out = append(out, token{kind, rest[:n]})
		rest = rest[n:]
	}
}

// lexOne is the kind and length of the first token; the length is 0 when it has no end.
func lexOne(s string) (string, int) {
	lower := strings.ToLower(s[:min(3, len(s))])
	switch c := s[0]; {
	case strings.HasPrefix(s, "--"):
		if end := strings.IndexAny(s, "\r\n"); end > 0 {
			return "comment", end
		}
		return "comment", len(s)
	case strings.HasPrefix(s, "/*"):
		return "comment", blockComment(s)
	case strings.HasPrefix(lower, "e'"):
		return "escapes", 1 + escapeString(s[1:])
	case strings.HasPrefix(lower, "u&'"), strings.HasPrefix(lower, `u&"`):
		return "string", after(2, closing(s[2:]))
	case len(lower) > 1 && strings.IndexByte("bxn", lower[0]) >= 0 && lower[1] == '\'':
		return "string", after(1, closing(s[1:]))
	case c == '\'':
		return "string", closing(s)
	case c == '"':
		return "name", closing(s)
	case c == '$':
		return dollar(s)
	case isIdentStart(c):
		return "word", runOf(s, func(c byte) bool { return isIdentStart(c) || isDigit(c) || c == '$' })
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return "number", numberLength(s)
	case strings.IndexByte("~!@#^&|`?+-*/%<>=", c) >= 0:
		return "operator", operatorLength(s)
	}
	return "sign", 1
}

func after(prefix, n int) int {
	if n == 0 {
		return 0
	}
	return prefix + n
}

// closing is the length of a quoted text whose quote is doubled in it; 0 without an end.
func closing(s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return 0
}

func escapeString(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return i + 1
		}
	}
	return -1
}

func blockComment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// dollar is a parameter or a string in dollar quotes.
func dollar(s string) (string, int) {
	if len(s) > 1 && isDigit(s[1]) {
		return "parameter", 1 + runOf(s[1:], isDigit)
	}
	tag := 1 + runOf(s[1:], func(c byte) bool { return isIdentStart(c) || isDigit(c) })
	if tag >= len(s) || s[tag] != '$' {
		return "sign", 1
	}
	quote := s[:tag+1]
	end := strings.Index(s[len(quote):], quote)
	if end < 0 {
		return "dollar", 0
	}
	return "dollar", end + 2*len(quote)
}

func numberLength(s string) int {
	n := runOf(s, isDigit)
	if n < len(s) && s[n] == '.' && !strings.HasPrefix(s[n:], "..") {
		n += 1 + runOf(s[n+1:], isDigit)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		exponent := n + 1
		if exponent < len(s) && (s[exponent] == '+' || s[exponent] == '-') {
			exponent++
		}
		if digits := runOf(s[exponent:], isDigit); digits > 0 {
			n = exponent + digits
		}
	}
	return n
}

// operatorLength ends an operator where a comment begins in it.
func operatorLength(s string) int {
	n := runOf(s, func(c byte) bool { return strings.IndexByte("~!@#^&|`?+-*/%<>=", c) >= 0 })
	for _, comment := range []string{"--", "/*"} {
		if at := strings.Index(s[:n], comment); at > 0 {
			n = at
		}
	}
	return n
}

func runOf(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isIdentStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// contained says what is wrong with tokens that stand in parentheses, "" when nothing of
// them reaches out.
func contained(tokens []token) string {
	var open []string
	for _, t := range tokens {
		switch {
		case t.kind == "comment", t.kind == "dollar", t.kind == "parameter", t.kind == "escapes":
			return "has a " + t.String()
		case t.text == ";":
			return "has a semicolon"
		case t.text == "(", t.text == "[":
			open = append(open, t.text)
		case t.text == ")", t.text == "]":
			want := map[string]string{")": "(", "]": "["}[t.text]
			if len(open) == 0 || open[len(open)-1] != want {
				return "closes what it did not open"
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return "leaves open what it opened"
	}
	return ""
}
