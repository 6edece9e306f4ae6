package main

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// TestEventPipelineDownAndBack: everybody falls silent at once, some workers a little
// earlier than others because their last heartbeat was. Nobody is dead.
func TestEventPipelineDownAndBack(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(12)
	a.once(0)
	for _, w := range ws {
		a.sql("DELETE FROM sandbox_events WHERE sandbox_id = $1 AND event_type = 'agent.heartbeat'", w.key)
	}
	for i, w := range ws {
		a.event(w.key, "agent.heartbeat", time.Duration(i)*3*time.Second) // 30s between two of one worker
	}
	for step := range 14 { // the pipeline is down
		a.later(10 * time.Second)
		code, out, errs := a.run("once", "-o", "text", "--wait", patience)
		a.keeps(ws)
		if t.Failed() || code != 0 && code != verb.NotTrusted {
			t.Fatalf("step %d: %d\n%s%s", step, code, out, errs)
		}
	}
	for range 10 { // it is back
		a.later(15*time.Second, ws...)
		a.run("once", "--wait", patience)
		a.keeps(ws)
	}
}
