package asked

import (
	"strings"
	"testing"
)

// TestHeldWords: a kind, a source, what is named or a text is known; what is written wrongly is not, and which word is
// near is said, also in front of a colon and behind it.
func TestHeldWords(t *testing.T) {
	providers := []string{"daytona", "e2b"}
	for _, word := range []string{"", "observe", "budget", "per_pass 20", "budget: per_hour 60", "rule:orphan", "pause: rule:orphan",
		"i-k45ny", "freeze", "listing:daytona", "listing", "listing-untrusted daytona", "link@acme", "unmatched-pair",
		"task:7f3a", "sandbox:daytona/7f3a", "label:team=a", "provider:e2b", "rule:orphan by ana"} {
		if why := unheardHeld(word, providers); why != "" {
			t.Errorf("%q: %s", word, why)
		}
	}
	for word, want := range map[string]string{
		"budgte":          `held_by=budgte is not known; did you mean "budget"?`,
		"obsrve":          `held_by=obsrve is not known; did you mean "observe"?`,
		"ruel:x":          `held_by=ruel: is not known; did you mean "rule:"?`,
		"ruel:x y":        `held_by=ruel: is not known; did you mean "rule:"?`,
		"rule:oprhan":     `held_by=rule:oprhan is not known; did you mean "rule:orphan"?`,
		"provider:e2c":    `held_by=provider:e2c is not known; did you mean "provider:e2b"?`,
		"listin:e2b":      "held_by=listin: is not known; known are task:, sandbox:",
		"breaker:errored": `held_by=breaker: is not known; did you mean "breaker"?`,
	} {
		if got := unheardHeld(word, providers); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
