package main

import (
	"context"
	"slices"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An affected is one thing that the script broke.
type affected struct {
	incident incident
	task     string // its task, "" when none exists
	sandbox  string // the sandbox that has to go, "" when nothing runs
	status   string // the status that its task has and must keep; "" when it has to be failed
	spared   bool   // the sandbox is brought back from its quarantine, and has to stay

	found, repaired, confirmed bool
}

// rowToFail reports whether the repair includes the task's row.
func (v *affected) rowToFail() bool { return v.task != "" && v.status == "" }

// The truth is what the script really did, and what became of it in the world. It is
// never told to sandkeeper; the audit compares the two.
type truth struct {
	stage   *demoStage
	foreign []string // sandboxes of the other team

	mu       sync.Mutex
	affected []*affected
	left     map[string]bool // sandboxes that ended by the platform's or the script's hand
	harm     []string        // healthy things that were touched, in words
	done     map[string]reconcile.Outcome
	resumed  map[string]bool // sandboxes that came back from a quarantine
}

func newTruth(s *demoStage) *truth {
	return &truth{stage: s, left: map[string]bool{}, done: map[string]reconcile.Outcome{}, resumed: map[string]bool{}}
}

func (t *truth) add(v affected) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.affected = append(t.affected, &v)
}

// leave notes that a sandbox ends, and not by sandkeeper.
func (t *truth) leave(sandbox string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left[sandbox] = true
}

// all are copies of the victims, oldest first.
func (t *truth) all() []affected {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]affected, len(t.affected))
	for i, v := range t.affected {
		out[i] = *v
	}
	return out
}

func (t *truth) harmed() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.harm)
}

// open is how many broken things are not repaired and confirmed.
func (t *truth) open() int { return len(t.unfinished()) }

// unfinished are these, oldest first.
func (t *truth) unfinished() []affected {
	return slices.DeleteFunc(t.all(), func(v affected) bool { return v.found && v.repaired && v.confirmed })
}

func (t *truth) settled() bool { return t.open() == 0 }

// broken is how many things were broken.
func (t *truth) broken() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.affected)
}

// example is a repaired task, for `explain`.
func (t *truth) example() string {
	for _, v := range t.all() {
		if v.repaired && v.rowToFail() {
			return v.task
		}
	}
	return ""
}

// learn compares the ledger with the truth: what was found and confirmed, and what the
// world looks like by now.
func (t *truth) learn(ctx context.Context, o *reconcile.Overview, healthy map[string]string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hear(o)
	rows, err := t.stage.rows(ctx, t.tasks(healthy))
	if err != nil {
		return err
	}
	for _, v := range t.affected {
		v.repaired = t.repaired(v, rows)
		v.confirmed = t.confirmed(v)
	}
	t.audit(rows, healthy)
	return nil
}

// hear takes in what the ledger says.
func (t *truth) hear(o *reconcile.Overview) {
	found := map[string]bool{}
	for _, list := range [][]reconcile.FindingSeen{o.Findings, o.Resolved} {
		for i := range list {
			found[list[i].Task], found[list[i].Sandbox] = true, true
		}
	}
	for i := range slices.Backward(o.Recent) { // the newest has the last word
		t.take(&o.Recent[i])
	}
	for _, v := range t.affected {
		v.found = v.found || v.task != "" && found[v.task] || v.sandbox != "" && found[v.sandbox]
	}
}

// take notes what became of an action. What was done once stays done.
func (t *truth) take(a *reconcile.Action) {
	thing := a.Task
	switch a.Step {
	case reconcile.StepTerminate, reconcile.StepQuarantine:
		thing = a.Sandbox
	case reconcile.StepResume:
		t.resumed[a.Sandbox] = t.resumed[a.Sandbox] || a.Outcome == reconcile.OutcomeDone
		return
	case reconcile.StepFail, reconcile.StepRequeue:
	default:
		return
	}
	if was := t.done[thing]; was != reconcile.OutcomeDone && was != reconcile.OutcomeConfirmed {
		t.done[thing] = a.Outcome
	}
}

func (t *truth) tasks(healthy map[string]string) []string {
	ids := []string{}
	for id := range healthy {
		ids = append(ids, id)
	}
	for _, v := range t.affected {
		if v.task != "" {
			ids = append(ids, v.task)
		}
	}
	return ids
}

// repaired looks at the world, not at what sandkeeper says.
func (t *truth) repaired(v *affected, rows map[string]demoRow) bool {
	if v.rowToFail() && rows[v.task].Status != "failed" {
		return false
	}
	if v.spared {
		return t.resumed[v.sandbox] && t.runs(v.sandbox)
	}
	return v.sandbox == "" || t.ended(v.sandbox) || t.asleep(v.sandbox)
}

func (t *truth) confirmed(v *affected) bool {
	if v.spared {
		return t.resumed[v.sandbox]
	}
	if v.rowToFail() && t.done[v.task] != reconcile.OutcomeDone {
		return false
	}
	done := t.done[v.sandbox]
	return v.sandbox == "" || done == reconcile.OutcomeConfirmed || done == reconcile.OutcomeDone
}

// A tableRow is one line of the summary.
type tableRow struct {
	name                               string
	broken, found, repaired, confirmed int
}

// table sums the victims up, an incident a row and all of them last.
func (t *truth) table() []tableRow {
	sum := tableRow{name: "all"}
	var rows []tableRow
	for _, name := range incidents {
		row := tableRow{name: string(name)}
		for _, v := range t.all() {
			if v.incident == name {
				row.count(v)
				sum.count(v)
			}
		}
		rows = append(rows, row)
	}
	return append(rows, sum)
}

func (r *tableRow) count(v affected) {
	r.broken++
	for _, is := range []struct {
		yes bool
		n   *int
	}{{v.found, &r.found}, {v.repaired, &r.repaired}, {v.confirmed, &r.confirmed}} {
		if is.yes {
			*is.n++
		}
	}
}
