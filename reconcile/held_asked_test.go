package reconcile

import "testing"

// TestMeant: by a kind, a source, what is named or the text itself a person means the same, wherever he asks.
func TestMeant(t *testing.T) {
	for said, words := range map[string][]string{
		"observe":                                       {"observe"},
		"budget: per_pass 20":                           {"budget", "per_pass", "per_pass 20", "budget: per_pass 20"},
		"budget: per_hour 60, by the last pass":         {"budget", "per_hour", "per_hour 60"},
		"pause: rule:orphan (why) by ana":               {"pause", "rule:orphan"},
		"hold: label:team=a":                            {"hold", "label:team=a"},
		"incident: i-k45ny":                             {"incident", "i-k45ny"},
		"listing-untrusted daytona: it is a page short": {"freeze", "listing:daytona", "listing", "listing-untrusted daytona"},
		"link-untrusted @acme: half of it":              {"freeze", "link", "link@acme"},
		"unmatched pair: two of one name":               {"unmatched-pair"},
		"cannot be ended: no way to stop it":            {"cannot-be-ended"},
	} {
		h := ParseHeld(said)
		for _, word := range words {
			if !h.Meant(word) {
				t.Errorf("%q is not meant by %q", said, word)
			}
		}
		for _, word := range []string{"veto", "per_pass 2", "rule:orpha", "listing:e2b", "i-k45n", "link@acm", "off"} {
			if h.Meant(word) {
				t.Errorf("%q is meant by %q", said, word)
			}
		}
	}
}
