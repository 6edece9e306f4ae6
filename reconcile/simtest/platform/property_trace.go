package platform

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// unlooked is P4: "No destructive step without a second, independent look: a direct get by the
// provider's id, and the row read again, right before it", since the claim; and the requests of
// the operators with it.
func (w *watch) unlooked(d *effect) string {
	if d.claim == nil || d.Call == "Restore" {
		return ""
	}
	if !d.p.woke.Before(d.claim.at.Add(-time.Minute)) && w.at.Sub(d.p.woke) < unavoidable {
		return "" // the call stood still on its way, and what it rested on was read before
	}
	from := d.claim.step
	if d.p.wishes.step < from {
		return d.what() + ": the controls were not read since the claim"
	}
	if d.write != nil && d.p.rows[d.write.Task.ID].step < from {
		return d.what() + ": the row was not read since the claim"
	}
	if !d.ends() || d.b != nil && !d.b.there() {
		return "" // what is on its way out is only asked to hurry
	}
	seen := d.p.boxes[reconcile.Ref{Provider: d.Party, ID: d.ID}]
	switch {
	case seen.step < from || !seen.known:
		return d.what() + ": the sandbox was not got by its id since the claim"
	case d.p.policy.Tasks.None || d.a.Rule == "record-without-container" && d.a.Task == "":
		return ""
	case d.k != nil && w.explains(d.k, d.b) && d.p.rows[d.k.id].step < from && d.p.keys[d.ID].step < from &&
		!w.cameSince(d, seen.moment):
		return fmt.Sprintf("%s: the row of task %s, which may explain it, was not read since the claim", d.what(), d.k.id)
	}
	return ""
}

// cameSince reports whether the task came to go on in the sandbox only after the process had looked at that for the
// last time, a moment before the deed: the look named another one, so that no row of this one was to be read.
func (w *watch) cameSince(d *effect, looked moment) bool {
	return d.b.task == d.k && !d.b.labelled.Before(looked.at) && w.harm().soon(d, looked)
}

// explains reports whether a process could know that the row may explain the sandbox.
func (w *watch) explains(k *task, b *box) bool { return b != nil && w.linked(k, b) }

// against is P8: "A hold (by task, sandbox, label or provider) is respected everywhere. So is the
// pause of all, of a rule, of a provider."
func (w *watch) against(d *effect) string {
	if d.a == nil {
		return ""
	}
	for _, pause := range d.p.wish.Pauses {
		provider := d.Party
		if d.write != nil && d.k != nil && d.k.box != nil && d.k.box.shown && w.platform.boxes[d.k.box.ref] == d.k.box {
			provider = d.k.box.ref.Provider
		}
		if pause.Scope == "all" || pause.Scope == "rule:"+d.rule() || pause.Scope == "provider:"+provider {
			return fmt.Sprintf("%s: %s is paused", d.what(), pause.Scope)
		}
	}
	if d.Call == "Restore" {
		return ""
	}
	for _, hold := range d.p.wish.Holds {
		if w.holds(hold.Target, d) {
			return fmt.Sprintf("%s: %s is held", d.what(), hold.Target)
		}
	}
	return ""
}

// holds reports whether a hold names the deed's task, sandbox, provider or a label of it.
func (w *watch) holds(target string, d *effect) bool {
	of := reconcile.ParseSubject(target)
	value := of.Within()
	b := d.b
	if b == nil && d.k != nil && d.k.box.there() && w.linked(d.k, d.k.box) {
		b = d.k.box
	}
	switch of.Type {
	case reconcile.SubjectTask:
		return d.a.Task == value
	case reconcile.SubjectSandbox:
		return b != nil && (b.ref.ID == value || b.ref.String() == value) && (d.ends() || b.there())
	case reconcile.SubjectProvider:
		return d.ends() && d.Party == value || d.write != nil && b != nil && b.there() && b.ref.Provider == value
	case reconcile.SubjectLabel:
		key, want := reconcile.LabelParts(value)
		if b == nil || !b.there() && !d.ends() {
			return false
		}
		s, _ := b.cloud.world.Sandbox(b.ref.ID)
		return s.Labels[key] == want && want != ""
	}
	return false
}

// unarmed is P9 for deeds: observe mode makes no outside change.
func (w *watch) unarmed(d *effect) string {
	if d.a == nil || d.asked() {
		return ""
	}
	policy := d.p.policyOf(d)
	p := policy.Effective(&reconcile.Memory{Controls: d.p.wish})
	if r, known := p.Rules[d.rule()]; known && r.Mode != reconcile.Enforce {
		return fmt.Sprintf("%s: the rule is in %s", d.what(), r.Mode)
	}
	begins := d.a.Seq == 0 && d.a.ActedAt.IsZero() && d.a.FirstActed.IsZero() && d.a.Outcome == reconcile.OutcomePending
	if s := p.Standing(&d.p.wish, d.a.PlannedAt, d.rule()); begins && !s.Proven() {
		return fmt.Sprintf("%s: the rule is %s", d.what(), s.Line)
	}
	return ""
}

// policyOf is the policy that a deed is done by: what was claimed when the config was read again is carried out
// by the former one, like a call that is on its way.
func (p *process) policyOf(d *effect) *reconcile.Policy {
	if d.claim != nil && d.claim.step <= p.changed.step && !p.changed.at.IsZero() {
		return &p.former
	}
	return &p.policy
}

// lookerActs is P9: "plan, serve make no outside change; plan writes nothing anywhere."
func (w *watch) lookerActs(p *process, s *Step) string {
	if !p.looks() {
		return ""
	}
	switch s.Call {
	case "Now", "Recall", "Sources", "LastBegan", "LastRecorded", "Controls", "OpenActions", "Clock", "Live", "ByID",
		"BySandbox", "Explaining", "List", "Get", "Find", "Named", "Template", "Quotas", "Check", "Death":
		return ""
	}
	return fmt.Sprintf("%s, which only looks, calls %s of %s", s.Process, s.Call, s.Party)
}

// disturbs is P10: "A probe never resumes a sandbox"; only a running one is probed.
func (w *watch) disturbs(s *Step) string {
	if s.Call != "Probe" {
		return ""
	}
	b := w.platform.boxes[reconcile.Ref{Provider: s.Party, ID: s.ID}]
	if b == nil || b.cloud == nil {
		return ""
	}
	if r, ok := s.Answer.(reconcile.ProbeResult); ok {
		b.met(r.Outcome, w.platform.now())
	}
	now, there := b.cloud.world.Sandbox(s.ID)
	if there && b.state == reconcile.SandboxSuspended && now.State != b.state {
		return fmt.Sprintf("a probe changed sandbox %s from %s to %s", b.ref, b.state, now.State)
	}
	return ""
}

// met notes what a probe met.
func (b *box) met(o reconcile.ProbeOutcome, now time.Time) {
	switch {
	case o == reconcile.Answered:
		b.proven, b.failed = now, time.Time{}
	case o.Failed() && b.failed.IsZero():
		b.failed = now
	}
	if o == reconcile.Answered || o.Failed() {
		b.probed = o
	}
}

// unmeasured is P12: "a measurement that failed is exported as absent, never as 0".
func (w *watch) unmeasured(p *process, s *Step) string {
	rec, ok := s.Args.(reconcile.Record)
	if s.Call != "Record" || !ok || rec.Kind != reconcile.Full {
		return ""
	}
	for provider, failed := range p.listed {
		for key := range rec.Counts {
			of := reconcile.ParseCount(key)
			if failed && of.What == reconcile.CountSandboxes && of.Provider == provider {
				return fmt.Sprintf("pass %d counts %s=%d although the listing failed", rec.Pass, key, rec.Counts[key])
			}
		}
	}
	return ""
}
