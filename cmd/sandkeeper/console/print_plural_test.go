package console

import "testing"

// TestPlural: each noun has the plural that English gives it.
func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 sandbox": Plural(1, "sandbox"), "6 sandboxes": Plural(6, "sandbox"), "0 passes": Plural(0, "pass"),
		"1 step": Plural(1, "step"), "2 steps": Plural(2, "step"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
