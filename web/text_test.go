package web

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestLine(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"nothing":                       {"", ""},
		"as it is":                      {"task 12", "task 12"},
		"lines become one":              {" a\n\tb\r\n c ", "a b c"},
		"control characters go":         {"a\x00b\x1b[31mc", "a b [31mc"},
		"marks of direction go":         {"exe\u202egnp\u2066.\u200f", "exegnp."},
		"what is not seen goes":         {"a\u200bb\ufeffc\u00add", "abcd"},
		"line separators are spaces":    {"a\u2028b\u2029c", "a b c"},
		"broken encoding is shown":      {"a\xffb", "a\ufffdb"},
		"ten characters fit":            {"ääääääääää", "ääääääääää"},
		"an eleventh is cut":            {"äääääääääää", "ääääääääää…"},
		"a cut does not leave a space":  {"123456789 more", "123456789…"},
		"spaces do not count":           {strings.Repeat(" ", 100) + "12345", "12345"},
		"markup is left to be escaped":  {"<b>&amp;", "<b>&amp;"},
		"other alphabets are no danger": {"日本語", "日本語"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := line(c.text, 10); got != c.want {
				t.Errorf("line(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestBlockKeepsLines(t *testing.T) {
	if got, want := block("\none\r\n\ttwo\x1b[0m\u202e\n", 100), "one\n\ttwo [0m"; got != want {
		t.Errorf("block = %q, want %q", got, want)
	}
}

// FuzzLine holds line and block to what the page relies on, whatever comes.
func FuzzLine(f *testing.F) {
	f.Add("a\u202eb\x00<script>")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{line(text, 50), block(text, 50)} {
			if n := len([]rune(got)); n > 51 {
				t.Errorf("%d characters of %q", n, text)
			}
			for _, r := range got {
				if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Errorf("%q is in %q", r, got)
				}
			}
		}
		if strings.ContainsAny(line(text, 50), "\n\t") {
			t.Errorf("line(%q) has lines", text)
		}
	})
}

func TestLong(t *testing.T) {
	cases := map[time.Duration]string{
		-time.Second:                      "0 s",
		0:                                 "0 s",
		59*time.Second + 999e6:            "59 s",
		time.Minute:                       "1 min",
		6*time.Minute + 12*time.Second:    "6 min 12 s",
		time.Hour - time.Nanosecond:       "59 min 59 s",
		time.Hour:                         "1 h",
		3*time.Hour + 5*time.Minute + 1e9: "3 h 5 min",
		24*time.Hour - time.Nanosecond:    "23 h 59 min",
		24 * time.Hour:                    "1 d",
		50 * time.Hour:                    "2 d 2 h",
	}
	for d, want := range cases {
		if got := long(d); got != want {
			t.Errorf("long(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestBrief(t *testing.T) {
	cases := map[time.Duration]string{
		-time.Second: "0 s", 0: "0 ms", 43 * time.Millisecond: "43 ms", 99*time.Millisecond + 999e3: "99 ms", time.Second - 1: "999 ms", time.Second: "1.0 s", 1299 * time.Millisecond: "1.2 s", 10*time.Second - 1: "9.9 s", 10 * time.Second: "10 s",
	}
	for d, want := range cases {
		if got := brief(d); got != want {
			t.Errorf("brief(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestMoments(t *testing.T) {
	cases := map[string]struct {
		got  moment
		want string
	}{
		"never":              {ago(time.Time{}, noon), "never"},
		"just now":           {ago(noon, noon), "0 s ago"},
		"past":               {ago(back(90*time.Second), noon), "1 min 30 s ago"},
		"future":             {ago(noon.Add(5*time.Second), noon), "in 5 s"},
		"lasting":            {since(back(time.Hour), noon), "1 h"},
		"lasting of nothing": {since(time.Time{}, noon), "never"},
		"another clock":      {exactly(noon), "2026-02-01 12:00:00 UTC"},
		"unknown":            {exactly(time.Time{}), "unknown"},
		"no end":             {until(time.Time{}, noon, "until resumed"), "until resumed"},
		"an end":             {until(noon.Add(2*time.Hour), noon, ""), "until 2026-02-01 14:00 UTC (in 2 h)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got.Text != c.want {
				t.Errorf("text %q, want %q", c.got.Text, c.want)
			}
		})
	}
	berlin := noon.In(time.FixedZone("CET", 3600))
	if got := exactly(berlin); got.ISO != "2026-02-01T12:00:00Z" || got.Exact != "2026-02-01 12:00:00 UTC" {
		t.Errorf("of another zone: %+v, want UTC", got)
	}
}

func TestCommand(t *testing.T) {
	cases := map[string]string{
		"8c02ffe6-26b9": "sandkeeper explain 8c02ffe6-26b9",
		"daytona/sb_1":  "sandkeeper explain daytona/sb_1",
		"":              "",
		"-x":            "",
		"=ls":           "",
		"a b":           "",
		"a;b":           "",
		"$(id)":         "",
		"a`b`":          "",
		"a\nb":          "",
		"ä":             "",
		"~root":         "",
		"*":             "",
	}
	for id, want := range cases {
		if got := command("sandkeeper explain %s", id); got != want {
			t.Errorf("command(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 tasks": count(0, "task"), "1 task": count(1, "task"), "2 sandboxes": count(2, "sandbox"), "1 sandbox": count(1, "sandbox"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
