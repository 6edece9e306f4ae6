package platform

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// unavoidable is how long may lie between the last look and the last thing that a process did
// before the deed: a claim's time, and the calls themselves. What changed within it, and while
// the call itself was on its way, nobody could have seen.
const unavoidable = 30 * time.Second

// stillMost is how long may lie between the last thing that a process did and the deed: for longer no ruling holds. A
// call that is slow on its way takes seconds more.
const stillMost = time.Minute + 10*time.Second

// harms is the promise of all: "in any order of faults it never harms healthy work".
func (w *watch) harms(d *effect) string {
	why := ""
	switch {
	case d.write != nil && d.k != nil:
		why = w.was.work
	case d.ends() && d.b != nil && d.b.owner == ours && d.b.there():
		if why = w.platform.truth().use(d.b); why != "" && d.a != nil && (w.platform.truth().acceptedEnd(d.b, d.a) != "" ||
			d.k != nil && (d.a.Task == "" || d.a.Task == d.k.id) && w.platform.truth().accepted(d.k, d.rule()) != "") {
			why = ""
		}
	}
	if why != "" && !w.harm().justNow(d) {
		return d.what() + ": " + why
	}
	if why = w.harm().rests(d); why != "" && !w.harm().justStopped(d) {
		return d.what() + ": " + why
	}
	return ""
}

// rests is the promise that what does not run is left, unless the config says otherwise: what its user
// has in it is not ours to delete. A quarantine of ours, and a person, may.
func (w harm) rests(d *effect) string {
	if !d.ends() || d.b == nil || d.asked() || d.rule() == "record-without-container" ||
		d.p.policy.Providers[d.b.ref.Provider].EndsAtRest ||
		d.a == nil || w.quarantined(d.a) {
		return ""
	}
	if state := d.b.state; state == reconcile.SandboxStopped || state == reconcile.SandboxSuspended {
		return "it does not run, and what does not run is left"
	}
	return ""
}

// quarantined reports whether the action follows a quarantine of its remedy.
func (w harm) quarantined(a *reconcile.Action) bool {
	for _, of := range w.acts {
		if of.action.Remedy == a.Remedy && of.action.Step == reconcile.StepQuarantine {
			return true
		}
	}
	return a.Step == reconcile.StepQuarantine
}

// remember keeps what is true of a task right before its row is written.
func (w harm) remember(k *task, action string) {
	if k == nil {
		w.was = truthBefore{}
		return
	}
	w.was = truthBefore{work: w.platform.truth().work(k), step: k.step, linked: k.box.there() && w.linked(k, k.box)}
	// Whether enough others run is settled by the pass, and the pass may have failed some since.
	if w.was.work != "" && (w.agreed[action] || w.platform.truth().accepted(k, w.rules[action]) != "") {
		w.was.work = ""
	}
}

// justStopped reports whether the truth changed after the process had looked at the sandbox for the last time, a
// moment before the deed. A row that was read later does not show what its sandbox does.
func (w harm) justStopped(d *effect) bool {
	looked := d.p.boxes[d.b.ref]
	return d.k != nil && d.k.step >= looked.step && w.soon(d, looked.moment)
}

// justNow reports whether the truth of the task changed after the process had looked for the
// last time, a moment before the deed.
func (w harm) justNow(d *effect) bool {
	if d.k == nil {
		return false
	}
	read, changed := d.p.rows[d.k.id], d.k.step
	if d.p.lanes() {
		read = d.p.again[d.k.id] // a pass reads the live set at the same time
	}
	if d.write != nil {
		changed = w.was.step
	}
	if d.b != nil {
		if keyed := d.p.keys[d.b.ref.ID]; keyed.step > read.step {
			read = keyed
		}
		if looked := d.p.boxes[d.b.ref]; looked.step > read.step {
			read = looked.moment
		}
	}
	return changed >= read.step && w.soon(d, read)
}

// soon reports whether the deed came soon after the look: a process that stands still before a call does not make it.
func (w harm) soon(d *effect, read moment) bool {
	return d.p.last.Sub(read.at) <= unavoidable && w.at.Sub(d.p.last) <= stillMost
}

// plans is harm for what a pass says that it will do: the plan is read by people.
func (w harm) plans(p *process, r *run.Result) []string {
	var out []string
	if r.Plan == nil {
		return nil
	}
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		if len(s.HeldBy) > 0 || s.Author != "" {
			continue
		}
		if why := w.planned(p, &s.Action); why != "" {
			out = append(out, fmt.Sprintf("planned: %s of %s by %s (%s): %s", s.Step, s.Subject, s.Rule, s.Reason, why))
		}
	}
	return out
}

// plansIn is the same for a pass that is recorded: the steps that it adds are to be done.
func (w harm) plansIn(p *process, s *Step) []string {
	rec, ok := s.Args.(reconcile.Record)
	if s.Call != "Record" || !ok || !s.Effect {
		return nil
	}
	var out []string
	for i := range rec.Actions {
		a := &rec.Actions[i]
		k := w.platform.tasks[a.Task]
		if k != nil && a.Rule == "heartbeat-lost" && w.platform.truth().accepted(k, a.Rule) != "" {
			w.agreed[a.ID] = true
		}
		if why := w.planned(p, a); why != "" && a.Seq == 0 {
			out = append(out, fmt.Sprintf("pass %d plans %s of %s by %s (%s): %s", rec.Pass, a.Step, a.Subject, a.Rule,
				a.Reason, why))
		}
	}
	return out
}

// released notes what an operator let go.
func (w harm) released(s *Step) {
	if r, ok := s.Args.(reconcile.Release); ok && s.Call == "Release" {
		w.let[r.What] = true
		for _, subject := range r.Subjects {
			w.let[r.What+" "+subject] = true
		}
	}
}

// letGo reports whether an operator released the subject from a freeze.
func (w harm) letGo(source, subject string) bool { return w.let[source+" "+subject] }

func (w harm) planned(p *process, a *reconcile.Action) string {
	t := w.platform
	b := t.boxes[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}]
	k := t.tasks[a.Task]
	why := ""
	switch {
	case a.Step == reconcile.StepFail || a.Step == reconcile.StepRequeue:
		if k != nil && t.truth().accepted(k, a.Rule) == "" {
			why, b = t.truth().work(k), k.box
		}
	case a.Step != reconcile.StepTerminate && a.Step != reconcile.StepQuarantine || b == nil || a.Seq > 0:
	case b.owner != ours:
		why = "it is not ours but " + string(b.owner)
	default:
		k = b.task
		if t.truth().acceptedEnd(b, a) == "" && (k == nil || t.truth().accepted(k, a.Rule) == "") {
			why = t.truth().use(b)
		}
	}
	mine := b == nil || b.owner == ours
	if why == "" || mine && k != nil && k.step >= p.lastLook(k.id) || b != nil && w.former(p, b, a.Rule) {
		return ""
	}
	return why
}

// lieLasts is for how long a plan may rest on a listing that lied: the ledger has what it showed.
const lieLasts = 10 * time.Minute

// former reports whether a plan may rest on what a listing showed of a sandbox that is not so any
// more: it was relabelled a moment ago, the listing lags, or what is over is shown again after
// the provider's clock was set back. The look before the deed tells.
func (w harm) former(p *process, b *box, rule string) bool {
	t := w.platform
	if at := w.lied[b.ref.Provider]; !at.IsZero() && t.now().Sub(at) < lieLasts {
		return true // what is planned by a lie, the second look before the deed refutes
	}
	switch rule {
	case "heartbeat-lost", "inactive":
		// What a probe learnt before the ledger's clock was set back looks as if it were of now; the final
		// probe, right before the deed, tells.
		return p.stale[b.ref.Provider] && b.state != reconcile.SandboxRunning || len(t.clocks.steps(domainLedger)) > 0
	case "provisioning-stuck":
		return b.state != reconcile.SandboxCreating
	case "duplicate":
		return len(t.clocks.steps(b.ref.Provider)) > 0
	}
	behind := t.now().Sub(b.labelled) < b.cloud.lag // the index shows the labels that it had before
	return behind || b.taken && (t.now().Sub(b.born) < 2*time.Minute || p.stale[b.ref.Provider])
}

// lastLook is the step at which the process read the task last. Of one with several lanes, which read rows for their
// actions while it makes a pass, that pass may have read it at its beginning.
func (p *process) lastLook(task string) int {
	last := max(p.rows[task].step, p.live.step)
	if p.lanes() && p.pass > 0 {
		return min(last, p.began.step)
	}
	return last
}

// twice is `once`: "every action exactly once in effect". A row is written once by an action. A
// sandbox is asked to go again only when it was asked long ago, by design, or when the process
// that asked was not told that it was heard.
func (w *watch) twice(d *effect) string {
	if d.a == nil {
		return ""
	}
	of := w.act(d.a)
	switch {
	case d.write != nil && of.effects > 0 && d.k != nil && d.k.restored:
		return "" // a backup has undone what was written
	case d.write != nil && of.effects > 0:
		return d.what() + ": written a second time by the same action"
	case d.Call == "Terminate":
		before := w.boxes[reconcile.Ref{Provider: d.Party, ID: d.ID}]
		if before != nil && before.told && !before.late && w.elapsed(domainLedger, before.at) < 30*time.Second {
			return fmt.Sprintf("%s: %s asked for it %s ago and was told that it was heard", d.what(), before.by,
				w.at.Sub(before.at))
		}
	}
	return ""
}

// unclaimed is `lost`: "Nothing is done to the outside before a row says it is about to be done":
// whatever is done belongs to an action that this process had claimed.
func (w *watch) unclaimed(d *effect) string {
	if d.a == nil {
		return d.what() + ": no claim of this process stands behind it"
	}
	return ""
}

// opened is `lost` at the end: no action is open without a way on. What is open has a time at
// which it is tried again, a wait that somebody can see, or a person who holds it.
func (w harm) lostAtEnd(open []reconcile.Action) []string {
	var out []string
	for i := range open {
		a := &open[i]
		of := w.acts[a.ID]
		if of != nil && of.effects > 0 && a.Step != reconcile.StepTerminate && !strings.Contains(string(a.Step), "quar") &&
			a.ActedAt.IsZero() && a.Outcome == reconcile.OutcomePending {
			out = append(out, fmt.Sprintf("%s of %s took effect and the ledger never learnt it", a.Step, a.Subject))
		}
	}
	return out
}

// harm is the part of a [watch] that knows whether healthy work was ended.
type harm struct{ *watch }

func (w *watch) harm() harm { return harm{w} }
