package api

import (
	"strings"
	"testing"
)

// TestVerbsSayWhatWillHappen: a confirmation names what a verb does to its target; where a list is shown, that says it.
func TestVerbsSayWhatWillHappen(t *testing.T) {
	for _, v := range Verbs {
		if got := strings.Count(v.Will, "%s"); v.Lists != (got == 0) || strings.Count(v.Will, "%") != got {
			t.Errorf("%s says %q of its target", v.Name, v.Will)
		}
		if !v.Lists && v.Optional != (v.Else != "") {
			t.Errorf("%s: its target may be left out: %t, and is %q then", v.Name, v.Optional, v.Else)
		}
	}
}
