package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// How long texts of the ledger may be on the page, in characters.
const (
	mostName   = 200  // ids, names, authors
	mostLine   = 600  // reasons, facts, errors
	mostHead   = 240  // what is quoted in the verdict
	mostInline = 200  // a detail that is shown without unfolding it
	mostBlock  = 4000 // what is unfolded: the end of a log
)

// inline is a foreign text on one line, or else as a block: what is long or has lines is the
// end of a log, which is read as it was written.
func inline(said string) (one, many string) {
	one = text.Plain(said, mostLine)
	if len(one) > mostInline || strings.Contains(strings.TrimSpace(said), "\n") {
		return "", text.Block(said, mostBlock)
	}
	return one, ""
}

// A moment is a time for people: how long ago it was, and exactly when.
type moment struct {
	Text  string // "12s ago"; "never" for no time
	Exact string // "2026-02-01 09:12:03 UTC"; "" for no time
	ISO   string // for programs
}

// ago is a time of the ledger's clock as seen from its now.
func ago(t, now time.Time) moment {
	m := exactly(t)
	switch {
	case t.IsZero():
		m.Text = "never"
	case t.After(now):
		m.Text = "in " + seconds(t.Sub(now))
	default:
		m.Text = seconds(now.Sub(t)) + " ago"
	}
	return m
}

// since is how long something has lasted.
func since(t, now time.Time) moment {
	m := ago(t, now)
	if !t.IsZero() {
		m.Text = seconds(now.Sub(t))
	}
	return m
}

// exactly is a time of any clock, without an age.
func exactly(t time.Time) moment {
	if t.IsZero() {
		return moment{Text: "unknown"}
	}
	exact := text.Time(t)
	return moment{Text: exact, Exact: exact, ISO: t.UTC().Format(time.RFC3339)}
}

// until is the end of a request; open says what it means to have none.
func until(t, now time.Time, open string) moment {
	if t.IsZero() {
		return moment{Text: open}
	}
	m := ago(t, now)
	m.Text = "until " + m.Exact + " (" + m.Text + ")"
	return m
}

// seconds is how long ago something was: nobody asks for its milliseconds.
func seconds(d time.Duration) string { return text.Coarse(d.Truncate(time.Second)) }

// count is a number with its noun: "1 task", "212 tasks".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ss") || strings.HasSuffix(noun, "x") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verb is the form of a verb that goes with a number: "is" or "are".
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// sentence ends a text with a full stop, if it ends with nothing of the kind.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") || strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}

// command is a line to be copied into a shell. It is "" when an argument could mean more
// there than it says: ids are chosen by others.
func command(format string, args ...string) string {
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
