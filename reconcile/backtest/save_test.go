package backtest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestResume: a history that is read in parts, each by a process of its own, comes to the very same as one that is read
// at once; and what was saved of another history, or is broken, is refused.
func TestResume(t *testing.T) {
	p, end := policy(), day0.Add(20*24*time.Hour)
	var past []*reconcile.PastTask
	for i := range 300 {
		made := day0.Add(time.Duration(i) * time.Hour)
		state := reconcile.TaskCompleted
		if i%7 == 0 {
			state = reconcile.TaskFailed
		}
		silent := 20 + 200*math.Mod(float64(i)*0.618, 1)
		at := func(seconds float64) time.Time { return made.Add(time.Duration(seconds * float64(time.Second))) }
		l := worked(fmt.Sprint(i), made, state, Sign{At: at(60), Kind: Started}, Sign{At: at(61), Kind: Heartbeat},
			Sign{At: at(61 + silent)}, Sign{At: at(62 + silent), Kind: Heartbeat})
		l.Class = fmt.Sprintf("task.kind=%d", i%3)
		past = append(past, (*reconcile.PastTask)(l))
	}
	whole, parts := New(p, day0, end), New(p, day0, end)
	for i, one := range past {
		whole.Add(one)
		parts.Add(one)
		if i%90 != 89 {
			continue
		}
		state, err := parts.Save()
		if err != nil {
			t.Fatal(err)
		}
		if parts, err = Resume(p, day0, end, state); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(whole.Results(nil), parts.Results(nil)); diff != "" {
		t.Errorf("in parts it comes to something else (-whole +parts):\n%s", diff)
	}
	state, _ := whole.Save()
	for what, resume := range map[string]func() (*Replay, error){
		"another span":   func() (*Replay, error) { return Resume(p, day0, end.Add(24*time.Hour), state) },
		"other rules":    func() (*Replay, error) { return Resume(p, day0, end, state, "inactive") },
		"a broken state": func() (*Replay, error) { return Resume(p, day0, end, state[:len(state)/2]) },
		"no state":       func() (*Replay, error) { return Resume(p, day0, end, nil) },
	} {
		if r, err := resume(); err == nil {
			t.Errorf("%s = %+v, want it refused", what, r)
		}
	}
}
