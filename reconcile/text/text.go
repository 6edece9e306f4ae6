// Package text is the one way to say it: how a text that comes from outside is cleaned and
// cut, how durations are written and read, how times are written, which known word an unknown one stands for.
// It imports nothing of ours; everything may import it.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Seen is how a character of somebody else's text is shown: as it is, or as a blank when it
// is none that is seen. Such a one moves a cursor, ends a line, turns it around, or makes two
// texts look like one.
func Seen(r rune) rune {
	if (r < ' ' || r > '~') && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp) {
		return ' '
	}
	return r
}

// Visible is [Seen], but what joins letters stays: scripts and emoji need it.
func Visible(r rune) rune {
	const joiner, nonJoiner = '\u200d', '\u200c'
	if r == joiner || r == nonJoiner {
		return r
	}
	return Seen(r)
}

// Lined is [Seen], but lines and tabs stay: the last gate of a whole page.
func Lined(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	return Seen(r)
}

// Line is a text as a terminal may have it: one line, each character as [Visible].
// Broken encoding becomes U+FFFD.
func Line(s string) string { return strings.Map(Visible, s) }

// Clip keeps a foreign text to one line of at most n characters, for rows, logs and
// terminals. Blanks that follow each other become one.
func Clip(s string, n int) string {
	return Cut(strings.Join(strings.Fields(Line(start(s, n))), " "), n)
}

// Plain is [Clip] for a page or a label, where no joiner may hide that two texts differ.
func Plain(s string, n int) string {
	return Cut(strings.Join(strings.Fields(strings.Map(Seen, start(s, n))), " "), n)
}

// Block is [Plain], but lines and tabs stay.
func Block(s string, n int) string {
	kept := strings.Map(Lined, strings.ReplaceAll(start(s, n), "\r\n", "\n"))
	return Cut(strings.TrimSpace(kept), n)
}

// start is all of a text that n characters may be made of: blanks that are joined later are
// no reason to read 100 kB.
func start(s string, n int) string {
	return s[:min(len(s), (n+1)*utf8.UTFMax*4)]
}

// Cut keeps the first n characters and says when there were more.
func Cut(s string, n int) string {
	seen := 0
	for at := range s {
		if seen == n {
			return strings.TrimSpace(s[:at]) + "…"
		}
		seen++
	}
	return s
}

// Tail is the end of a log, at most n bytes.
func Tail(s string, n int) string {
	return strings.ToValidUTF8(s[len(s)-min(max(n, 0), len(s)):], "")
}

// Storable reports whether a database's text can hold the value as it is.
func Storable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Stored is the text as a database can hold it. One bad byte of a provider or a task's row
// must not cost a whole pass its record.
func Stored(s, instead string) string {
	if Storable(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, instead), "\x00", "")
}

// TraceID is the trace that a platform's row names: the id itself, or a traceparent of W3C Trace Context. "" for what
// is neither: rows hold texts of tenants.
func TraceID(said string) string {
	said = strings.ToLower(strings.TrimSpace(said))
	if parts := strings.Split(said, "-"); len(parts) == 4 && len(parts[0]) == 2 {
		said = parts[1]
	}
	said = strings.ReplaceAll(said, "-", "")
	if len(said) != 32 || strings.Trim(said, "0123456789abcdef") != "" || strings.Trim(said, "0") == "" {
		return ""
	}
	return said
}
