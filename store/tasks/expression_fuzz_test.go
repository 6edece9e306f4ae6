package tasks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// smuggled are ways out of an expression that people have found, and texts that only look
// like one.
var smuggled = []string{
	"(timeout_seconds * interval '1 second')", "priority > 0 AND data @> '{\"a\": [1]}'", "retry_count + 1",
	"left(@reason, 200)", "@now", "a <@now", "a||@reason", "1@now", "'@now'", "\"@now\"", "@nowhere", "NULL",
	"(a) OR (b)", "(a), (b)", "(a)[1]", "a[1:2]", "a[(1])", "true) OR (true", "((", "))", "()", "[", "]",
	"1; DROP TABLE tasks", "';'", "\";\"", "1 -- x", "1 /* x */", "1 /* /* */ */", "'--'", "'/*'", "*/*", "- -1", "-- ",
	"$$x$$", "$a$x$a$", "a$b$c", "1$a$", "$1", "@>$1", "E'\\''", "e'\\' OR true --'", "U&'\\0027' UESCAPE '!'",
	"U&\"d\\0061\"", "N'x'", "B'1'", "X'1F'", "'a'\n'b\\'", "'\\'", "'\\'' ; DROP TABLE tasks; --'", "type 'x'", "date'2020-01-01'",
	"1e'x'", "1e5", "1e1e''", "0x1F", "1_000.5e-3", "a1e'x'", "'it''s'", "\"a\"\"b\"", "''", "'", "\"", "ünïcode = 'é'", "a\u00a0b", "\u2028;", "\xff", "\x00", " ", "",
	"(SELECT secret FROM api_keys)", "(WITH x AS (DELETE FROM tasks RETURNING 1) SELECT 1)", "CASE WHEN a THEN b END",
	"a::text COLLATE \"C\"", "a AT TIME ZONE 'UTC'", "(VALUES (1))", "ARRAY[1, 2]", "ROW(1, 2)", "a.b", "1..2", ".5", "?", "\\",
	"{{.Table}}", "%s", "@reason::text", "@ reason", "@@reason", "a;@reason",
}

var placed = regexp.MustCompile(`, at character ([0-9]+)$`)

// FuzzExpression: what the scanner lets through cannot reach out of the parentheses that it
// is put into, by the server's rules and by those of the driver that numbers parameters.
// What it refuses has a place.
func FuzzExpression(f *testing.F) {
	for _, text := range smuggled {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := sqltext.Scan(text)
		if e.Problem != "" {
			refusedWithPlace(t, text, e.Problem)
			return
		}
		inside, err := lex(e.SQL())
		if err != nil {
			t.Fatalf("%q is let through as %q, which has %v", text, e.SQL(), err)
		}
		if why := contained(inside); why != "" {
			t.Fatalf("%q is let through as %q, which %s", text, e.SQL(), why)
		}
		// The tokens around it are what they are without it.
		around, err := lex("a = (" + e.SQL() + ")b")
		want := slices.Concat([]token{{"word", "a"}, {"operator", "="}, {"sign", "("}}, inside,
			[]token{{"sign", ")"}, {"word", "b"}})
		if err != nil || !slices.Equal(around, want) {
			t.Fatalf("%q as %q becomes %q in a statement, %v", text, e.SQL(), around, err)
		}
		whole, err := lex(e.Whole())
		if err != nil || !enclosing(whole) || contained(whole[1:len(whole)-1]) != "" {
			t.Fatalf("%q as a whole is %q, which is not one pair of parentheses", text, e.Whole())
		}
		numbers(t, e, inside)
	})
}

func refusedWithPlace(t *testing.T, text, problem string) {
	t.Helper()
	if problem == "is empty" && strings.TrimSpace(text) == "" ||
		problem == "is not plain text" && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
		return
	}
	m := placed.FindStringSubmatch(problem)
	if m == nil {
		t.Fatalf("%q is refused without a place: %s", text, problem)
	}
	if at, err := strconv.Atoi(m[1]); err != nil || at < 1 || at > utf8.RuneCountInString(text) {
		t.Fatalf("%q is refused at a place that it does not have: %s", text, problem)
	}
}

// enclosing reports whether the first token opens what the last one closes.
func enclosing(tokens []token) bool {
	return len(tokens) >= 2 && tokens[0].text == "(" && tokens[len(tokens)-1].text == ")"
}

// numbers: the driver finds each @reason that stands outside of quotes, and nothing else.
func numbers(t *testing.T, e *sqltext.Expression, tokens []token) {
	t.Helper()
	numbered, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), nil, e.SQL(), nil)
	if err != nil {
		t.Fatalf("number %q: %v", e.SQL(), err)
	}
	var want []token
	for _, at := range tokens {
		if last := len(want) - 1; last >= 0 && want[last].text == "@" && at.text == "reason" && e.Named["reason"] {
			want[last] = token{"parameter", "$1"}
			continue
		}
		want = append(want, at)
	}
	got, err := lex(numbered)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q is numbered as %q: %q, want %q, %v", e.SQL(), numbered, got, want, err)
	}
}

// TestExpressionPlaces: where a mistake is said to be.
func TestExpressionPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"true) OR (true": "closes with ) what it did not open with (, at character 5",
		"  (ü; 1)":       "contains a semicolon: it must be one expression, at character 5",
		"a[(1])":         "closes with ] what it did not open with [, at character 5",
		"f(a, (b)":       "has a parenthesis or bracket that is not closed, at character 2",
		"a = 'x":         "has a quote that is not closed, at character 5",
		"a = @status":    "names @status: only @reason and @now are known, at character 5",
	} {
		if e := sqltext.Scan(text); e.Problem != want {
			t.Errorf("scanExpression(%q) = %q, want %q", text, e.Problem, want)
		}
	}
}

// TestExpressionsStayWhole: two pairs of parentheses are put into one.
func TestExpressionsStayWhole(t *testing.T) {
	for text, want := range map[string]string{
		"(a) OR (b)": "((a) OR (b))", "(a OR b)": "(a OR b)", "((a) OR (b))": "((a) OR (b))", "(a)[(1)]": "((a)[(1)])",
		"(a) ": "(a)", "(a)(b)": "((a)(b))", "(a <@now)": "(a < statement_timestamp())", "(1@now)": "(1 statement_timestamp())",
	} {
		if e := sqltext.Scan(text); e.Problem != "" || e.Whole() != want {
			t.Errorf("scanExpression(%q) = %q %s, want %q", text, e.Whole(), e.Problem, want)
		}
	}
}
