package asked

import "testing"

// TestHeldWords: a kind, a source, what is named or a text is known; what is written wrongly is not.
func TestHeldWords(t *testing.T) {
	for _, word := range []string{"", "observe", "budget", "per_pass 20", "budget: per_hour 60", "rule:orphan", "pause: rule:orphan",
		"i-k45ny", "freeze", "listing:daytona", "listing", "listing-untrusted daytona", "link@acme", "unmatched-pair"} {
		if unheardHeld(word) {
			t.Errorf("%q is not known", word)
		}
	}
	for _, word := range []string{"budgte", "obsrve", "listin:", "lock: x y"} {
		if !unheardHeld(word) {
			t.Errorf("%q is known", word)
		}
	}
}
