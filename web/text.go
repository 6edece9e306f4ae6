package web

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// How long texts of the ledger may be on the page, in characters.
const (
	mostName   = 200  // ids, names, authors
	mostLine   = 600  // reasons, facts, errors
	mostHead   = 240  // what is quoted in the verdict
	mostInline = 200  // a detail that is shown without unfolding it
	mostBlock  = 4000 // what is unfolded: the end of a log
)

// line is a foreign text on one line of at most most characters. Nothing in it can steer a
// terminal or turn the direction of what stands around it.
func line(text string, most int) string {
	return cut(strings.Join(strings.Fields(harmless(text, most)), " "), most)
}

// inline is a foreign text on one line, or else as a block: what is long or has lines is the
// end of a log, which is read as it was written.
func inline(text string) (one, many string) {
	one = line(text, mostLine)
	if len(one) > mostInline || strings.Contains(strings.TrimSpace(text), "\n") {
		return "", block(text, mostBlock)
	}
	return one, ""
}

// block is a foreign text that keeps its lines.
func block(text string, most int) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return cut(strings.TrimSpace(harmless(text, most)), most)
}

// harmless frees the part of a text that may be shown from all that is not seen: control
// characters and what formats (marks of direction, joiners, line separators).
func harmless(text string, most int) string {
	if bytes := (most + 1) * utf8.UTFMax * 4; len(text) > bytes {
		text = text[:bytes] // spaces that are joined later are no reason to read 100 kB
	}
	return strings.Map(visible, text)
}

// visible drops what is not seen, or makes it a blank where it parts words.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		return -1
	}
	return r
}

// cut keeps the first characters and says when there were more.
func cut(text string, most int) string {
	seen := 0
	for at := range text {
		if seen == most {
			return strings.TrimSpace(text[:at]) + "…"
		}
		seen++
	}
	return text
}

// A moment is a time for people: how long ago it was, and exactly when.
type moment struct {
	Text  string // "12 s ago"; "never" for no time
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
		m.Text = "in " + long(t.Sub(now))
	default:
		m.Text = long(now.Sub(t)) + " ago"
	}
	return m
}

// since is how long something has lasted.
func since(t, now time.Time) moment {
	m := ago(t, now)
	if !t.IsZero() {
		m.Text = long(now.Sub(t))
	}
	return m
}

// exactly is a time of any clock, without an age.
func exactly(t time.Time) moment {
	if t.IsZero() {
		return moment{Text: "unknown"}
	}
	exact := t.UTC().Format("2006-01-02 15:04:05 UTC")
	return moment{Text: exact, Exact: exact, ISO: t.UTC().Format(time.RFC3339)}
}

// until is the end of a wish; open says what it means to have none.
func until(t, now time.Time, open string) moment {
	if t.IsZero() {
		return moment{Text: open}
	}
	m := ago(t, now)
	m.Text = "until " + m.Exact[:len(m.Exact)-len(":05 UTC")] + " UTC (" + m.Text + ")"
	return m
}

// long is a duration in its two largest units.
func long(d time.Duration) string {
	d = max(d, 0)
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return units(d, time.Minute, "min", time.Second, "s")
	case d < day:
		return units(d, time.Hour, "h", time.Minute, "min")
	}
	return units(d, day, "d", time.Hour, "h")
}

func units(d, large time.Duration, name string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, name)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
}

// brief is a duration of something quick: its fractions of a second count.
func brief(d time.Duration) string {
	switch {
	case d < 0 || d >= 10*time.Second:
		return long(d)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
}

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
