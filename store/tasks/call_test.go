package tasks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A platform is an API that changes rows.
type platform struct {
	calls []Call
	does  func()
	says  error
}

func (p *platform) Call(_ context.Context, call Call) error {
	p.calls = append(p.calls, call)
	if p.does != nil {
		p.does()
	}
	return p.says
}

// calledWorld is a platform that fails its tasks itself, with one running task.
func calledWorld(t *testing.T) (*world, *platform) {
	t.Helper()
	w := newWorld(t, "CREATE TABLE jobs (id text PRIMARY KEY, status text, beat timestamptz)", mapping.Mapping{
		Table: "public.jobs", Columns: map[string]string{"id": "id", "status": "status", "heartbeat_at": "beat"},
		Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}, "completed": {"done"}},
		Fail:     mapping.RowChange{Call: true}, Requeue: mapping.RowChange{None: true},
	})
	w.exec("INSERT INTO jobs VALUES ('a', 'running', now() - interval '1 hour')")
	p := &platform{}
	w.tasks.CallBy(p)
	return w, p
}

// TestFailByCall: the platform is asked once, only while the row is as it was judged, and what became of it is read
// from the row.
func TestFailByCall(t *testing.T) {
	refused := errors.New("it answered 500")
	for name, test := range map[string]struct {
		before, during string // what somebody else does
		says           error
		want           reconcile.Written
		calls          int
	}{
		"the platform fails it":          {"", "UPDATE jobs SET status = 'failed'", nil, reconcile.WriteDone, 1},
		"it ends in another way":         {"", "UPDATE jobs SET status = 'done'", nil, reconcile.WriteDone, 1},
		"the platform removes the row":   {"", "DELETE FROM jobs", nil, reconcile.WriteDone, 1},
		"the platform does it later":     {"", "", nil, reconcile.WriteAsked, 1},
		"the platform refuses":           {"", "", refused, "", 1},
		"it fails it, and then breaks":   {"", "UPDATE jobs SET status = 'failed'", refused, reconcile.WriteDone, 1},
		"it was done meanwhile":          {"UPDATE jobs SET status = 'done'", "", nil, reconcile.WriteMoved, 0},
		"it showed life meanwhile":       {"UPDATE jobs SET beat = now()", "", nil, reconcile.WriteAlive, 0},
		"its row was written meanwhile":  {"UPDATE jobs SET status = status", "", nil, reconcile.WriteBusy, 0},
		"its row is no longer there now": {"DELETE FROM jobs", "", nil, reconcile.WriteMoved, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := calledWorld(t)
			judged := w.one("a")
			if test.before != "" {
				w.exec(test.before)
			}
			p.says, p.does = test.says, func() {
				if test.during != "" {
					w.exec(test.during)
				}
			}
			got, before, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: judged,
				Reason: "no heartbeat " + reconcile.Mark("act1"), Refutable: true, LastSeen: judged.HeartbeatAt})
			if got != test.want || before != nil || (err != nil) != (got == "") || err != nil && !errors.Is(err, test.says) {
				t.Errorf("Write = %q, %+v, %v; want %q, no way back, or %v", got, before, err, test.want, test.says)
			}
			if len(p.calls) != test.calls {
				t.Errorf("the platform was asked %d times, want %d", len(p.calls), test.calls)
			}
			if test.calls > 0 {
				want := Call{Step: reconcile.StepFail, Task: "a", Action: "act1", Reason: "no heartbeat"}
				if c := p.calls[0]; c.Action != want.Action || c.Task != want.Task || strings.TrimSpace(c.Reason) != want.Reason {
					t.Errorf("asked for %+v, want %+v", c, want)
				}
			}
		})
	}
}

// TestFailByCallIsLater: who is cut off while he looks at the row asks again later.
func TestFailByCallIsLater(t *testing.T) {
	w, p := calledWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	p.does = cancel
	got, _, err := w.tasks.Write(ctx, reconcile.Write{Step: reconcile.StepFail, Task: w.one("a"), Reason: "x", Lock: true,
		LastSeen: time.Now()})
	if got != reconcile.WriteAsked || err != nil {
		t.Errorf("Write = %q, %v; want %q", got, err, reconcile.WriteAsked)
	}
}

// TestCallIsAlone: what a call does is all that is done.
func TestCallIsAlone(t *testing.T) {
	m := mapping.Mapping{Table: "public.jobs", Columns: map[string]string{"id": "id", "status": "status"},
		Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
		Fail:     mapping.RowChange{Call: true, Status: "failed", Set: map[string]string{"status": "@reason"}}}
	if _, err := Compile(m); err == nil || !strings.Contains(err.Error(), "tasks.fail.call: is given together with") {
		t.Errorf("Compile of a call and a write = %v, want an error", err)
	}
	m.Preset, m.Fail = "coder", mapping.RowChange{Call: true}
	if c, err := Compile(m.WithPreset()); err != nil || len(c.calls) != 1 || len(c.changes) != 0 {
		t.Errorf("Compile of a call over a preset that only reads = %+v, %v; want one call", c, err)
	}
}
