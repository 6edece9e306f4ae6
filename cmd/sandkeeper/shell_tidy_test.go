package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// dirty is a text with everything that a terminal, a browser or a reader of a log could be
// led astray with.
const dirty = "a\x1b[31mb\x1b]0;title\x07\x1b[2J\x1b[8mc\u009b31m\r\nforged: yes\td\x00e\x7f\u202egnp.exe\u2066x\u2069\u2028y\u2029\u200b\ufeff" +
	"\U000e0041\U000e007f<script>alert(1)</script>\" onload='x' javascript:alert(1) \U0001f469\u200d\U0001f52c ü 日本"

// clean demands that a text for people has no character that is not seen.
func clean(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is no UTF-8", what)
	}
	for i, r := range text {
		if r == '\n' || r == '\t' || r == '\u200d' || r == '\u200c' {
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Errorf("%s has %U at %d: %q", what, r, i, text[max(0, i-80):min(len(text), i+80)])
			return
		}
	}
}

// TestJSONIsTidy: JSON of results and of the log shows nothing raw, and means what it meant.
func TestJSONIsTidy(t *testing.T) {
	var out bytes.Buffer
	if err := console.PrintJSON(&out, map[string]string{"text": dirty, "key\u202e\u009b": "x"}); err != nil {
		t.Fatal(err)
	}
	clean(t, "JSON", out.String())
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != dirty || back["key\u202e\u009b"] != "x" {
		t.Errorf("it reads back as %q, %v", back, err)
	}
	for _, format := range []string{"json", "text"} {
		out.Reset()
		console.NewLog(&out, format, slog.LevelDebug).With("who", dirty).Warn(dirty, "err", dirty, "list", []string{dirty})
		clean(t, format+" log", out.String())
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Errorf("one entry of the %s log has %d lines:\n%s", format, n, out.String())
		}
		if format == "json" && (json.Unmarshal(out.Bytes(), &struct{ Msg *string }{}) != nil || !json.Valid(out.Bytes())) {
			t.Errorf("the entry is no JSON: %s", out.String())
		}
	}
}

// TestErrorsAreTidy: the error that ends a verb quotes arguments and providers.
func TestErrorsAreTidy(t *testing.T) {
	var out, errs bytes.Buffer
	for _, args := range [][]string{
		{dirty}, {"explain", dirty, "-c", "nowhere"}, {"plan", "-c", dirty}, {"once", "-o", dirty}, {"hold", "--for", dirty, "x"},
		{"--" + dirty}, {"mode", dirty, dirty}, {"affected", "-o", dirty}, {"help", dirty}, {"report", "--since", dirty},
	} {
		code := execute(t.Context(), args, console.Stdio{Out: &out, Err: &errs})
		if code == 0 && args[0] != "help" {
			t.Errorf("%q: exit code 0", args)
		}
	}
	clean(t, "stdout", out.String())
	clean(t, "stderr", errs.String())
}
