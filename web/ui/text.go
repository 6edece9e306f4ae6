package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// How long texts of the ledger may be on the page, in characters.
const (
	mostName   = 200  // ids, names, authors
	mostLine   = 600  // reasons, facts, errors
	mostInline = 200  // a detail that is shown without unfolding it
	MostBlock  = 4000 // what is unfolded: the end of a log
)

// Name is a foreign name as pages show it: cleaned and cut.
func Name(s string) string { return text.Plain(s, mostName) }

// Line is the same of a foreign sentence.
func Line(s string) string { return text.Plain(s, mostLine) }

// Inline is a foreign text on one line, or else as a block: what is long or has lines is the
// end of a log, which is read as it was written.
func Inline(said string) (one, many string) {
	one = Line(said)
	if len(one) > mostInline || strings.Contains(strings.TrimSpace(said), "\n") {
		return "", text.Block(said, MostBlock)
	}
	return one, ""
}

// A Moment is a time for people: how long ago it was, and exactly when.
type Moment struct {
	Text  string // "12s ago"; "never" for no time
	Exact string // "2026-02-01 09:12:03 UTC"; "" for no time
	ISO   string // for programs
}

// Ago is a time of the ledger's clock as seen from its now.
func Ago(t, now time.Time) Moment {
	m := Exactly(t)
	switch {
	case t.IsZero():
		m.Text = "never"
	case t.After(now):
		m.Text = "in " + Seconds(t.Sub(now))
	default:
		m.Text = Seconds(now.Sub(t)) + " ago"
	}
	return m
}

// Since is how long something has lasted.
func Since(t, now time.Time) Moment {
	m := Ago(t, now)
	if !t.IsZero() {
		m.Text = Seconds(now.Sub(t))
	}
	return m
}

// Exactly is a time of any clock, without an age.
func Exactly(t time.Time) Moment {
	if t.IsZero() {
		return Moment{Text: "unknown"}
	}
	exact := text.Time(t)
	return Moment{Text: exact, Exact: exact, ISO: t.UTC().Format(time.RFC3339)}
}

// Until is the end of a request; open says what it means to have none.
func Until(t, now time.Time, open string) Moment {
	if t.IsZero() {
		return Moment{Text: open}
	}
	m := Ago(t, now)
	m.Text = "until " + m.Exact + " (" + m.Text + ")"
	return m
}

// Seconds is how long ago something was: nobody asks for its milliseconds.
func Seconds(d time.Duration) string { return text.Coarse(d.Truncate(time.Second)) }

// Count is a number with its noun: "1 task", "212 tasks".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ss") || strings.HasSuffix(noun, "x") || strings.HasSuffix(noun, "ch") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Verb is the form of a verb that goes with a number: "is" or "are".
func Verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Sentence ends a text with a full stop, if it ends with nothing of the kind.
func Sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// Command is a line to be copied into a shell. It is "" when an argument could mean more
// there than it says: ids are chosen by others.
func Command(format string, args ...string) string {
	filled := make([]any, len(args))
	for i, a := range args {
		if a == "" || a[0] == '-' || a[0] == '=' || strings.Trim(a, shellSafe) != "" {
			return ""
		}
		filled[i] = a
	}
	return fmt.Sprintf(format, filled...)
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@+,=-"

// Capital begins a sentence.
func Capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// InOrder numbers what is to be done one after the other, where it is more than one thing; "" is nothing to do.
func InOrder(steps ...string) string {
	steps = slices.DeleteFunc(steps, func(one string) bool { return one == "" })
	for i := range steps {
		if len(steps) > 1 {
			steps[i] = fmt.Sprintf("%d. %s", i+1, steps[i])
		}
	}
	return strings.Join(steps, " ")
}

// Dollars is an amount of money; "" for none, which also is what nobody set a price for.
func Dollars(usd float64) string {
	if usd <= 0 {
		return ""
	}
	if usd < 0.01 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}
