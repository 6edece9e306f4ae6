package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// audit looks for healthy things that were touched: rows that were failed, sandboxes that
// ended, rows of victims that had to stay as they were.
func (t *truth) audit(rows map[string]demoRow, healthy map[string]string) {
	t.harm = nil
	broken := map[string]bool{}
	for _, v := range t.affected {
		broken[v.task] = v.rowToFail()
		if v.status != "" && rows[v.task].Status != v.status {
			t.harm = append(t.harm, fmt.Sprintf("task %s was %s and is %s", v.task, v.status, rows[v.task].Status))
		}
		if v.spared && t.doomed(v.sandbox) {
			t.harm = append(t.harm, fmt.Sprintf("sandbox %s was wanted back and was terminated", v.sandbox))
		}
	}
	for id, row := range rows {
		cancelled := strings.HasPrefix(row.Error, "Task cancelled:") // the platform's own word for a stop
		if row.Status == "failed" && !broken[id] && !cancelled {
			t.harm = append(t.harm, fmt.Sprintf("task %s was healthy and is failed: %s", id, row.Error))
		}
	}
	for task, sandbox := range healthy {
		if !t.left[sandbox] && t.doomed(sandbox) {
			t.harm = append(t.harm, fmt.Sprintf("sandbox %s of healthy task %s was terminated", sandbox, task))
		}
	}
	for _, id := range t.foreign {
		if t.doomed(id) {
			t.harm = append(t.harm, fmt.Sprintf("sandbox %s of another team was terminated", id))
		}
	}
	slices.Sort(t.harm)
}

func (t *truth) ended(sandbox string) bool {
	s, known := t.stage.sandbox(sandbox)
	return !known || s.Gone
}

// doomed: it is gone, or will be in a moment.
func (t *truth) doomed(sandbox string) bool {
	s, known := t.stage.sandbox(sandbox)
	return !known || s.Gone || s.Doomed
}

// unspare: the sandbox may go.
func (t *truth) unspare(sandbox string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.affected {
		v.spared = v.spared && v.sandbox != sandbox
	}
}

// asleep: a quarantine is a repair as well, and the end that follows it is no news.
func (t *truth) asleep(sandbox string) bool {
	s, known := t.stage.sandbox(sandbox)
	still := s.State == reconcile.SandboxStopped || s.State == reconcile.SandboxSuspended
	return known && still && t.done[sandbox] == reconcile.OutcomeDone
}

func (t *truth) runs(sandbox string) bool {
	s, known := t.stage.sandbox(sandbox)
	return known && !t.doomed(sandbox) && s.State == reconcile.SandboxRunning
}
