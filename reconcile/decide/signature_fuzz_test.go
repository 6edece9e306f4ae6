package decide

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var digits = regexp.MustCompile(`[0-9]+`)

// otherNumbers is the text of another failure of the same kind: other ids, counts and times.
func otherNumbers(text string) string {
	n := 0
	return digits.ReplaceAllStringFunc(text, func(was string) string {
		n++
		return strconv.Itoa(len(was)*7919*n + 10)
	})
}

// FuzzNormalise: whatever a provider says, what is kept of it is short, valid, free of
// numbers, the same when it is normalised again, and the same for a failure of which only
// the numbers differ, and the case of letters, and where a line was broken.
func FuzzNormalise(f *testing.F) {
	for _, text := range []string{
		`Sandbox 'sb-1' failed: "no runner" (code=137) at 12:00:01`, `snapshot "ai-agent-dev-light" is inactive, last start 2026-02-01 09:12`,
		"no space left on device: /dev/vda1 97% used", "dial tcp 10.0.0.7:443: connect: connection refused", "", "#", "'", "''", "a'b'c 'd", "`a` \"b\" 'c'",
		"sandbox 8c02ffe6-26b9-4b1c-9d6e-0a1b2c3d4e5f not found", "deadbeef", "\xff\x00", "Ⅷ ½ ٣", "İ ǅ ẞ", strings.Repeat("'a ", 90), strings.Repeat("x", 70),
		"failed to pull image: 429 Too Many Requests; retry-after=30s", "exit status 1\nsignal: killed", "1,2;3:4 5",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Normalise(text)
		switch {
		case len(got) > longestError:
			t.Errorf("Normalise(%q) has %d bytes", text, len(got))
		case !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl):
			t.Errorf("Normalise(%q) = %q, which is not fit to be kept", text, got)
		case strings.ContainsFunc(got, unicode.IsNumber):
			t.Errorf("Normalise(%q) = %q, want no numbers", text, got)
		case got != strings.ToLower(got), got != strings.TrimSpace(got):
			t.Errorf("Normalise(%q) = %q, want lower case without blanks around it", text, got)
		case strings.TrimSpace(strings.ToValidUTF8(text, "")) == "" && got != "":
			t.Errorf("Normalise(%q) = %q, want nothing", text, got)
		}
		if again := Normalise(got); again != got && len(got) < longestError-longestWord {
			t.Errorf("Normalise(%q) = %q, and normalised again %q", text, got, again)
		}
		if len(text) > 400 {
			return // where it is cut before it is read depends on the length of numbers
		}
		if other := otherNumbers(text); Normalise(other) != got {
			t.Errorf("Normalise(%q) = %q, and with other numbers %q: %q", text, got, other, Normalise(other))
		}
		if broken := strings.ReplaceAll(text, " ", "\n"); Normalise(broken) != got {
			t.Errorf("Normalise(%q) = %q, and in lines %q", text, got, Normalise(broken))
		}
	})
}
