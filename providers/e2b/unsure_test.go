package e2b

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A kill that failed takes the record away, and the machine may run on: not found is no end then, unless an event
// tells of it, or nobody measures the machine any more after the node had its time.
func TestFailedKillIsNoEnd(t *testing.T) {
	const killed = `[{"type":"sandbox.lifecycle.killed","sandboxId":%q,"timestamp":"2026-11-01T12:00:20Z","eventData":{"kill_reason":"orphaned"}}]`
	for name, c := range map[string]struct {
		after  time.Duration
		events string
		sample time.Duration // how old the newest one is; 0: there is none
		gone   bool
	}{
		"at once":                                 {time.Second, "[]", 0, false},
		"a moment before the node had its time":   {nodeNotices - time.Second, "[]", 0, false},
		"and its event came":                      {30 * time.Second, killed, time.Second, true},
		"the node had its time, nothing measured": {nodeNotices, "[]", 0, true},
		"an old sample":                           {nodeNotices, "[]", stillRuns, true},
		"it is still measured":                    {nodeNotices, "[]", 5 * time.Second, false},
		"events cannot be read":                   {time.Second, "oops", 0, false},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		l.says["DELETE /sandboxes/"+s.ID] = reply{500, js, `{"code":500,"message":"Error killing sandbox"}`, nil}
		if how, err := l.Terminate(t.Context(), s); how != "" || err == nil {
			t.Fatalf("%s: Terminate = %q, %v; want that nobody knows", name, how, err)
		}
		l.says["GET /sandboxes/"+s.ID] = reply{404, js, fmt.Sprintf(`{"code":404,"message":"Sandbox \"%s\" doesn't exist"}`, s.ID), nil}
		l.clock.Advance(c.after)
		events, metrics := c.events, `{"sandboxes":{}}`
		if events == killed {
			events = fmt.Sprintf(killed, s.ID)
		}
		if c.sample > 0 {
			metrics = fmt.Sprintf(`{"sandboxes":{%q:{"timestampUnix":%d}}}`, s.ID, l.clock.Now().Add(-c.sample).Unix())
		}
		l.says["GET /events/sandboxes/"+s.ID], l.says["GET /sandboxes/metrics"] = reply{200, js, events, nil}, reply{200, js, metrics, nil}
		_, err := l.Get(t.Context(), s.ID)
		if errors.Is(err, reconcile.ErrNotFound) != c.gone || err == nil {
			t.Errorf("%s: Get = %v, want gone: %t", name, err, c.gone)
		}
		how, err := l.Terminate(t.Context(), s)
		if (how == reconcile.TerminateGone) != c.gone {
			t.Errorf("%s: Terminate again = %q, %v; want gone: %t", name, how, err, c.gone)
		}
	}
}

// Who never tried to kill it believes the vendor.
func TestNotFoundWithoutAKillIsGone(t *testing.T) {
	l := newLab(t)
	s := l.put(simulated.Sandbox{})
	l.world.Change(s.ID, func(s *simulated.Sandbox) { s.Gone = true })
	if _, err := l.Get(t.Context(), s.ID); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get = %v, want gone", err)
	}
}

// Another process may have asked for the kill that failed: what the ledger knows of it counts like an answer of its own,
// from when it was asked for, and takes nothing back that this process saw later.
func TestFailedKillOfAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		told []time.Duration
		gone bool
	}{
		"nobody tells of one":         {nil, true},
		"a moment ago":                {[]time.Duration{time.Second}, false},
		"a moment ago, then long ago": {[]time.Duration{time.Second, time.Hour}, false},
		"when its node had its time":  {[]time.Duration{nodeNotices}, true},
		"a clock that is ahead":       {[]time.Duration{-time.Hour}, false},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		l.says["GET /sandboxes/"+s.ID] = reply{404, js, fmt.Sprintf(`{"code":404,"message":"Sandbox \"%s\" doesn't exist"}`, s.ID), nil}
		l.says["GET /events/sandboxes/"+s.ID], l.says["GET /sandboxes/metrics"] = reply{200, js, "[]", nil}, reply{200, js, `{"sandboxes":{}}`, nil}
		for _, ago := range c.told {
			l.EndFailed(s.ID, ago)
		}
		if _, err := l.Get(t.Context(), s.ID); errors.Is(err, reconcile.ErrNotFound) != c.gone || err == nil {
			t.Errorf("%s: Get = %v, want gone: %t", name, err, c.gone)
		}
	}
}
