package platform

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// Pass is called after a process ended a pass, with its result; nil when it failed.
func (t *Platform) Pass(name string, r *run.Result, err error) []history.Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r == nil || err != nil {
		return nil
	}
	w := t.watch
	p := w.process(name)
	var out []history.Violation
	add := func(property string, says ...string) {
		for _, s := range says {
			out = append(out,
				history.Violation{Property: property, Step: w.steps, At: t.now().Sub(t.began), Says: name + ": " + s})
		}
	}
	add("P12", w.partition(p, r)...)
	add("P15", w.heldUp(r)...)
	if p.looks() {
		add("harm", w.harm().plans(p, r)...)
	}
	return out
}

// partition is P12: "Every subject gets exactly one decision per pass." Each live row that was
// read and each sandbox is in exactly one of them.
func (w *watch) partition(p *process, r *run.Result) []string {
	if r.Judged == nil {
		return nil
	}
	var out []string
	subjects, boxes := map[string]bool{}, map[reconcile.Ref]bool{}
	live := r.Judged.Plain()
	for i := range r.Judged.Decisions {
		s := r.Judged.Decisions[i].Subject
		if subjects[s.ID] {
			out = append(out, "two decisions on "+s.ID)
		}
		subjects[s.ID] = true
		if s.Task != nil && s.LinkState == reconcile.LinkLive {
			live++
		}
		for j := range s.Boxes {
			if boxes[s.Boxes[j].Ref] {
				out = append(out, fmt.Sprintf("sandbox %s is in two decisions", s.Boxes[j].Ref))
			}
			boxes[s.Boxes[j].Ref] = true
		}
	}
	if p.count >= 0 && live != p.count && !p.lanes() {
		out = append(out, fmt.Sprintf("%d live rows were read, and %d decided on", p.count, live))
	}
	return out
}

// End is called when the history is over.
func (t *Platform) End() []history.Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []history.Violation
	add := func(property, says string) {
		if says != "" {
			out = append(out, history.Violation{Property: property, At: t.now().Sub(t.began), Says: says})
		}
	}
	open, err := t.Ledger.OpenActions(context.Background())
	if err != nil {
		add("lost", err.Error())
	}
	for _, says := range t.watch.harm().lostAtEnd(open) {
		add("lost", says)
	}
	add("P13", t.watch.silence())
	return out
}

// silence is P13: "The janitor's own silence is loud": the age of the last complete pass is that
// of one that truly was complete.
func (w *watch) silence() string {
	m, err := w.platform.Ledger.Recall(context.Background())
	if err != nil {
		return err.Error()
	}
	if n := len(w.done); n == 0 && !m.LastPass.IsZero() {
		return "no pass was complete, and the ledger says that one was"
	}
	if n := len(w.done); n > 0 && m.LastPass.After(w.done[n-1]) {
		return fmt.Sprintf("the last complete pass was recorded at %s, the ledger says %s", w.done[n-1], m.LastPass)
	}
	return ""
}
