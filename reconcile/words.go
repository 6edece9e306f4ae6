package reconcile

import (
	"strings"
	"time"
)

// stamp is a time as people read it, in UTC; "never" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// short is a duration without fractions of a second and without trailing zero units.
func short(d time.Duration) string {
	if d == forever {
		return "ever"
	}
	if d < 0 {
		return "-" + short(-max(d, -forever)) // the least duration has no opposite
	}
	if d < 10*time.Second && d%time.Second != 0 {
		return d.Truncate(100 * time.Millisecond).String()
	}
	text := d.Truncate(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// clip keeps a foreign text to one line of at most n bytes, without control characters: it
// ends up in rows, logs and terminals.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(plain(text)), " ")
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// plain is the text without control characters and broken encoding.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unfit(r) {
			return ' '
		}
		return r
	}, text)
}

func joined(parts ...string) string { return strings.Join(nonEmpty(parts...), "; ") }

func nonEmpty(parts ...string) []string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// lifeLine says when the worker was last heard.
func lifeLine(t *Task) string {
	if sign := t.LifeSign(); !sign.IsZero() {
		return "last life sign " + stamp(sign)
	}
	return "no life sign ever"
}
