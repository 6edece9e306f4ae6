package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestLine: what somebody else wrote neither moves the cursor nor turns the line around.
func TestLine(t *testing.T) {
	for said, want := range map[string]string{
		"plain, and ü 日本":             "plain, and ü 日本",
		"two\nlines\r\x1b[31mred":     "two lines  [31mred",
		"turned \u202egnp.exe":        "turned  gnp.exe",
		"isolated \u2066a\u2069 and":  "isolated  a  and",
		"lines of\u2028another\u2029": "lines of another ",
		"marks \u200e\u200f\u061c":    "marks    ",
		"letters \ue000\U000e0041":    "letters   ", // of private use, and that only programs read
		"broken \xff":                 "broken \ufffd",
		"\U0001f469\u200d\U0001f52c":  "\U0001f469\u200d\U0001f52c", // one letter, joined of two
	} {
		if got := Line(said); got != want {
			t.Errorf("Line(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for said, want := range map[string]string{
		"": "", "short": "short", "exactly10!": "exactly10!", "more than ten": "more than…",
		"two\nli\tof  t": "two li of…", "\xff bad": "\ufffd bad", "red \x1b[0m\x00": "red [0m",
		"a\u200db": "a\u200db",
	} {
		if got := Clip(said, 10); got != want {
			t.Errorf("Clip(%q) = %q, want %q", said, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	cases := map[string]struct{ said, want string }{
		"nothing":                       {"", ""},
		"as it is":                      {"task 12", "task 12"},
		"lines become one":              {" a\n\tb\r\n c ", "a b c"},
		"control characters go":         {"a\x00b\x1b[31mc", "a b [31mc"},
		"marks of direction go":         {"exe\u202egnp\u2066.", "exe gnp ."},
		"what is not seen goes":         {"a\u200bb\ufeffc\u00add", "a b c d"},
		"joiners go":                    {"a\u200db\u200cc", "a b c"},
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
			if got := Plain(c.said, 10); got != c.want {
				t.Errorf("Plain(%q) = %q, want %q", c.said, got, c.want)
			}
		})
	}
}

func TestBlockKeepsLines(t *testing.T) {
	if got, want := Block("\none\r\n\ttwo\x1b[0m\u202e\n", 100), "one\n\ttwo [0m"; got != want {
		t.Errorf("Block = %q, want %q", got, want)
	}
}

// FuzzClean holds the forms of a cleaned text to what pages, terminals and rows rely on.
func FuzzClean(f *testing.F) {
	f.Add("a\u202eb\x00<script>")
	f.Add("\xff\xfe")
	f.Add("\u200d\u200c\ue000\U000e0041\u2028\u009b31m")
	f.Fuzz(func(t *testing.T, said string) {
		for of, got := range map[string]string{"Line": Line(said), "Clip": Clip(said, 50), "Plain": Plain(said, 50),
			"Block": Block(said, 50)} {
			if n := utf8.RuneCountInString(got); n > 51 && of != "Line" {
				t.Errorf("%s: %d characters of %q", of, n, said)
			}
			if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t") && of != "Block" {
				t.Errorf("%s(%q) = %q is no line of text", of, said, got)
			}
			for _, r := range got {
				joins := (r == '\u200d' || r == '\u200c') && (of == "Line" || of == "Clip")
				lined := (r == '\n' || r == '\t') && of == "Block"
				if !joins && !lined && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)) {
					t.Errorf("%s: %q is in %q", of, r, got)
				}
			}
		}
		if stored := Stored(said, "?"); !Storable(stored) || Storable(said) && stored != said {
			t.Errorf("Stored(%q) = %q", said, stored)
		}
	})
}

func TestTail(t *testing.T) {
	for n, want := range map[int]string{-1: "", 0: "", 1: "", 2: "é", 3: "yé", 9: "xyé"} {
		if got := Tail("xyé", n); got != want {
			t.Errorf("Tail of %d = %q, want %q", n, got, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "a.localhost": false, "localhost.example.com": false,
		"127.0.0.1.example.com": false, "0x7f.1": false,
	} {
		if got := Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %t, want %t", host, got, want)
		}
	}
}
