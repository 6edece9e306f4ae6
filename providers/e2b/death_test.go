package e2b

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The newest event that begins or ends a run decides; it need not be the first in the answer.
func TestKilledByItsEvents(t *testing.T) {
	event := func(kind, at, more string) string {
		return `{"type":"sandbox.lifecycle.` + kind + `","sandboxId":"i1","sandboxExecutionId":"run-` + at +
			`","timestamp":"2026-11-01T12:00:0` + at + `Z"` + more + `}`
	}
	for name, c := range map[string]struct{ events, reason, run string }{
		"killed by its time":   {event("killed", "3", `,"eventData":{"kill_reason":"timeout"}`) + "," + event("created", "1", ""), "killed: timeout", "run-3"},
		"an old event":         {event("created", "1", "") + "," + event("killed", "3", `,"eventData":null`), "killed", "run-3"},
		"updated after":        {event("updated", "4", "") + "," + event("killed", "3", ""), "killed", "run-3"},
		"resumed after":        {event("resumed", "4", "") + "," + event("killed", "3", ""), "", ""},
		"paused":               {event("paused", "4", "") + "," + event("created", "3", ""), "", ""},
		"created, and no more": {event("created", "3", ""), "", ""},
		"nothing":              {"", "", ""},
	} {
		var events []lifecycle
		if err := json.Unmarshal([]byte("["+c.events+"]"), &events); err != nil {
			t.Fatal(name, err)
		}
		got, err := killed(events, "i1")
		if got.Reason != c.reason || got.Incarnation != c.run || (c.reason == "") != errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("%s: %+v, %v; want %q of %q", name, got, err, c.reason, c.run)
		}
	}
	if _, err := killed([]lifecycle{{Type: "sandbox.lifecycle.killed", Of: "i2"}}, "i1"); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("the end of another sandbox: %v, want no record", err)
	}
}
