package main

import "testing"

// TestShown: what somebody else wrote neither moves the cursor nor turns the line around.
func TestShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain, and ü 日本":             "plain, and ü 日本",
		"two\nlines\r\x1b[31mred":     "two lines  [31mred",
		"turned \u202egnp.exe":        "turned  gnp.exe",
		"isolated \u2066a\u2069 and":  "isolated  a  and",
		"lines of\u2028another\u2029": "lines of another ",
		"marks \u200e\u200f\u061c":    "marks    ",
		"\U0001f469\u200d\U0001f52c":  "\U0001f469\u200d\U0001f52c", // one letter, joined of two
	} {
		if got := shown(text); got != want {
			t.Errorf("shown(%q) = %q, want %q", text, got, want)
		}
	}
}
