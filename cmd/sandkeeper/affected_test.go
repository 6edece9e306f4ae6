package main

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestUnreleased: what a release would let go is shown, the first ones of many.
func TestUnreleased(t *testing.T) {
	var held []string
	for range mostHeldShown + 5 {
		held = append(held, "task:x")
	}
	got := unreleased(&reconcile.Incident{ID: "i-1", Rule: "heartbeat-lost", Cause: "region eu", Count: 25}, held,
		[]string{"done then: sandbox:daytona/sb-1: terminated (heartbeat-lost)"})
	for _, want := range []string{"i-1  holds  25 failures", "region eu", "… and 5 more", "25 subjects held by it now",
		"release incident:i-1 --reason", "done then: sandbox:daytona/sb-1: terminated"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "task:x"); n != mostHeldShown {
		t.Errorf("%d subjects are listed, want %d", n, mostHeldShown)
	}
}
