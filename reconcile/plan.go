package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Plan is what a pass will do, and what it will not do and why. Planning is pure.
type Plan struct {
	Steps     []PlannedStep
	Findings  []Finding // all, with what holds them
	Actions   []Action  // new ones, to be recorded
	Withdrawn []string  // open actions, not begun, whose finding no longer holds
	Breakers  map[string]Breaker
	Kept      int
}

// A PlannedStep is one step of one remedy with the verdict on it.
type PlannedStep struct {
	Action
	Mode   Mode
	HeldBy string // "" means do
}

// draft is one remedy before budgets.
type draft struct {
	finding *Finding
	mode    Mode
	holds   []string
	steps   []Action
	rowOnly bool
}

// MakePlan turns a judgement into steps: modes, rollout, pauses, holds, breakers and
// budgets, in this order. pass is the number of the pass, 0 for a plan that is only shown.
func MakePlan(j *Judgement, pass int64) *Plan {
	v := j.view
	out := &Plan{Breakers: map[string]Breaker{}}
	open := v.openActions()
	var drafts []*draft
	for i := range j.Decisions {
		d := &j.Decisions[i]
		if len(d.Findings) == 0 {
			out.Kept++
		}
		if r := v.draft(d, open); r != nil {
			drafts = append(drafts, r)
		}
	}
	v.breakers(drafts, j, out)
	v.budgets(drafts, j.Fleet, open)
	for _, r := range drafts {
		v.emit(out, r, pass, open)
	}
	out.Findings = v.allFindings(j, drafts)
	out.Withdrawn = v.withdrawn(drafts)
	return out
}

// openActions are the open actions by subject, step and sandbox.
func (v *view) openActions() map[stepKey]*Action {
	open := map[stepKey]*Action{}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		open[a.key()] = a
	}
	return open
}

// A stepKey names a step; at most one action of it is open.
type stepKey struct {
	step         Step
	task         string
	provider, id string
}

func (a *Action) key() stepKey {
	if a.Step == StepTerminate {
		return stepKey{step: a.Step, provider: a.Provider, id: a.Sandbox}
	}
	return stepKey{step: "row", task: a.Task}
}

// draft chooses the decisive finding of a subject: the first that may act, else the first
// that is due.
func (v *view) draft(d *Decision, open map[stepKey]*Action) *draft {
	var chosen *draft
	for i := range d.Findings {
		f := &d.Findings[i]
		if !f.Due || d.Remedies[i] == Report {
			continue
		}
		r := &draft{finding: f, mode: v.p.Rules[f.Rule].Mode, holds: v.holds(d, f)}
		if chosen == nil || len(chosen.holds) > 0 && len(r.holds) == 0 {
			r.steps = v.remedySteps(d, f, d.Remedies[i])
			if len(r.steps) > 0 {
				chosen = r
			}
		}
	}
	if chosen == nil {
		return nil
	}
	if v.begun(chosen, open) {
		return nil // its remedy is under way and follows its own actions
	}
	chosen.rowOnly = v.rowOnly(d, chosen.steps)
	return chosen
}

// begun reports whether the first step is under way already, or any of them waits under
// another remedy: that one ends or is withdrawn first, so that a sandbox never goes before
// the row that this remedy writes.
func (v *view) begun(r *draft, open map[stepKey]*Action) bool {
	for i := range r.steps {
		a := open[r.steps[i].key()]
		if a != nil && (i == 0 && a.begun() || a.Rule != r.finding.Rule || a.Subject != r.finding.Subject) {
			return true
		}
	}
	return false
}

// holds are all that keeps a due finding from being repaired, before budgets.
func (v *view) holds(d *Decision, f *Finding) []string {
	p := v.p.Rules[f.Rule]
	holds := slices.Clone(f.HeldBy)
	if p.Mode != Enforce {
		holds = append(holds, string(p.Mode))
	}
	if !rolledOut(f.Rule, f.Subject, p.Rollout) {
		holds = append(holds, fmt.Sprintf("rollout: %d%%", p.Rollout))
	}
	c := v.s.Memory.Controls
	c.Modes = nil // already in the policy
	for i := range d.Subject.Boxes {
		b := &d.Subject.Boxes[i]
		holds = appendNew(holds, controlHolds(&c, target{
			rule: f.Rule, subject: f.Subject, provider: b.Provider, sandbox: b.ID, task: f.Task,
			names: []string{b.Name}, labels: b.Labels})...)
	}
	if len(d.Subject.Boxes) == 0 {
		holds = appendNew(holds, controlHolds(&c, target{rule: f.Rule, subject: f.Subject, task: f.Task})...)
		holds = appendNew(holds, v.providerPauses(d)...)
	}
	return holds
}

// providerPauses hold a task without a sandbox when every provider that it may be at is
// paused or held.
func (v *view) providerPauses(d *Decision) []string {
	var all []string
	for _, name := range v.providersOf(&d.Subject) {
		c := v.s.Memory.Controls
		c.Modes = nil
		holds := controlHolds(&c, target{provider: name})
		if len(holds) == 0 {
			return nil
		}
		all = appendNew(all, holds...)
	}
	return all
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// remedySteps are the ordered steps of a remedy: the row first, then the sandboxes, so
// that nobody is sent to a sandbox that is about to end.
func (v *view) remedySteps(d *Decision, f *Finding, remedy Remedy) []Action {
	s := &d.Subject
	base := Action{Rule: f.Rule, Subject: f.Subject, Task: f.Task, Reason: f.Reason, Evidence: f.Evidence}
	if remedy == Terminate || s.Task == nil || s.Fate != FateLive {
		return v.terminateSteps(base, s, f.Sandbox)
	}
	row := base
	row.Step = StepFail
	if remedy == Requeue && v.mayRequeue(s) {
		row.Step = StepRequeue
	}
	return append([]Action{row}, v.terminateSteps(base, s, "")...)
}

// terminateSteps end one sandbox of the subject, or all of them. Those that are on their
// way out, in an unknown state, or not proven ours are left.
func (v *view) terminateSteps(base Action, s *Subject, only string) []Action {
	var steps []Action
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if only != "" && b.ID != only || !b.Here || !b.Owned || b.State == SandboxEnded || v.ending[b.Ref] {
			continue
		}
		if only == "" && (b.State == SandboxUnknown || b.State == SandboxDeleting) {
			continue
		}
		a := base
		a.Step, a.Provider, a.Sandbox = StepTerminate, b.Provider, b.ID
		steps = append(steps, a)
	}
	return steps
}

// mayRequeue: only while attempts are left and nothing explains the failure that would
// make the next attempt fail as well.
func (v *view) mayRequeue(s *Subject) bool {
	cause, _ := v.cause(s)
	return s.Task.Retries && s.Task.Attempts < s.Task.MaxAttempts && cause == ""
}

// rowOnly reports whether the remedy only writes a row while everything is trusted and
// nothing runs for the task: it destroys nothing.
func (v *view) rowOnly(d *Decision, steps []Action) bool {
	if len(steps) != 1 || steps[0].Step == StepTerminate {
		return false
	}
	if !v.trusted(sourceTasks) || !v.trusted(sourceLink) {
		return false
	}
	for _, provider := range v.providersOf(&d.Subject) {
		if !v.trusted(listingOf(provider)) {
			return false
		}
	}
	return !d.Subject.hasBox(func(b *Box) bool { return !b.Gone && (!b.Here || b.State != SandboxEnded) })
}

// breakers open when the steps due for one rule exceed the share of the fleet, and stay
// open for the subjects that they list until a person releases these or they are healthy.
// A pass that cannot judge them, or in which something else holds them, closes nothing.
func (v *view) breakers(drafts []*draft, j *Judgement, out *Plan) {
	due := map[string][]*draft{}
	for name := range v.s.Memory.Controls.Breakers {
		due[name] = nil
	}
	for _, r := range drafts {
		if len(r.holds) == 0 && !r.rowOnly && !v.letGo("breaker:"+r.finding.Rule, r.finding.Subject) {
			due[r.finding.Rule] = append(due[r.finding.Rule], r)
		}
	}
	for _, name := range sortedKeys(due) {
		listed := v.stillListed(name, j)
		over := len(due[name]) > 10 && float64(len(due[name])) > v.p.Limits.Breaker*float64(j.Fleet)
		if over || len(listed) > 0 {
			out.Breakers[name] = v.trip(name, listed, due[name], j.Fleet)
		}
	}
}

// stillListed are the subjects of an open breaker that nobody released and whose finding
// is still open, seen in this pass or not.
func (v *view) stillListed(name string, j *Judgement) []string {
	var listed []string
	for _, subject := range v.s.Memory.Controls.Breakers[name].Subjects {
		key := FindingKey{name, subject}
		_, known := v.s.Memory.Findings[key]
		if (known && !slices.Contains(j.Resolved, key) || j.found(key)) && !v.letGo("breaker:"+name, subject) {
			listed = append(listed, subject)
		}
	}
	return listed
}

// found reports whether the pass saw the finding.
func (j *Judgement) found(key FindingKey) bool {
	at, ok := slices.BinarySearchFunc(j.Decisions, key.Subject, func(d Decision, id string) int {
		return cmp.Compare(d.Subject.ID, id)
	})
	return ok && slices.ContainsFunc(j.Decisions[at].Findings, func(f Finding) bool { return f.Key() == key })
}

// trip holds all that is due for a rule, and says how to release it.
func (v *view) trip(name string, listed []string, due []*draft, fleet int) Breaker {
	b := Breaker{Rule: name, OpenedAt: v.s.Memory.Controls.Breakers[name].OpenedAt, Subjects: listed}
	if b.OpenedAt.IsZero() {
		b.OpenedAt = v.now
	}
	for _, r := range due {
		b.Subjects = append(b.Subjects, r.finding.Subject)
	}
	slices.Sort(b.Subjects)
	b.Subjects = slices.Compact(b.Subjects)
	b.Hash = SubjectsHash(b.Subjects)
	for _, r := range due {
		r.holds = append(r.holds, fmt.Sprintf(
			"breaker: %d due of a fleet of %d exceed %s; release with: sandkeeper release %s --hash %s",
			len(b.Subjects), fleet, percent(v.p.Limits.Breaker), name, b.Hash))
	}
	return b
}

func percent(share float64) string { return fmt.Sprintf("%g%%", share*100) }

// budgets hold what does not fit into this pass and this hour. Remedies that were planned
// before and not begun come first, then the oldest findings.
func (v *view) budgets(drafts []*draft, fleet int, open map[stepKey]*Action) {
	total, shared := v.p.Limits.PerPass, v.p.Limits.shared(fleet)
	hour := v.p.Limits.PerHour - v.s.Memory.Spent.Hour
	ready := slices.Clone(drafts)
	slices.SortStableFunc(ready, func(a, b *draft) int {
		return cmp.Or(
			cmp.Compare(planned(b, open), planned(a, open)),
			a.finding.FirstSeen.Compare(b.finding.FirstSeen),
		)
	})
	for _, r := range ready {
		if len(r.holds) > 0 {
			continue
		}
		switch {
		case hour <= 0:
			r.holds = append(r.holds, fmt.Sprintf("budget: per_hour %d", v.p.Limits.PerHour))
		case total <= 0:
			r.holds = append(r.holds, fmt.Sprintf("budget: per_pass %d", v.p.Limits.PerPass))
		case !r.rowOnly && shared <= 0:
			r.holds = append(
				r.holds,
				fmt.Sprintf("budget: share %s of %d sandboxes", percent(v.p.Limits.Share), fleet),
			)
		default:
			hour--
			total--
			if !r.rowOnly {
				shared--
			}
		}
	}
}

func planned(r *draft, open map[stepKey]*Action) int {
	if open[r.steps[0].key()] != nil {
		return 1
	}
	return 0
}

// shared is how many remedies that end something one pass may begin: a share of the fleet,
// at least 1, never more than per_pass.
func (l Limits) shared(fleet int) int {
	return min(l.PerPass, max(1, int(l.Share*float64(fleet)+1e-9)))
}

// emit adds a remedy's steps to the plan, and its actions when it may be done.
func (v *view) emit(out *Plan, r *draft, pass int64, open map[stepKey]*Action) {
	heldBy := strings.Join(r.holds, "; ")
	remedy := ""
	for i := range r.steps {
		a := r.steps[i]
		a.Seq, a.Pass, a.PlannedAt, a.Outcome, a.RowOnly = i, pass, v.now, OutcomePending, r.rowOnly
		if before := open[a.key()]; before != nil {
			a = *before
		} else {
			a.ID = actionID(v.p.Installation, pass, v.now.UnixNano(), &a)
			a.Remedy = firstOf(remedy, a.ID)
			if heldBy == "" {
				out.Actions = append(out.Actions, a)
			}
		}
		remedy = firstOf(remedy, a.Remedy)
		out.Steps = append(out.Steps, PlannedStep{Action: a, Mode: r.mode, HeldBy: heldBy})
	}
}

// allFindings are the findings of the pass with what holds them.
func (v *view) allFindings(j *Judgement, drafts []*draft) []Finding {
	held := map[FindingKey][]string{}
	for _, r := range drafts {
		held[r.finding.Key()] = r.holds
	}
	var out []Finding
	for i := range j.Decisions {
		for _, f := range j.Decisions[i].Findings {
			if holds, decisive := held[f.Key()]; decisive {
				f.HeldBy = holds
			}
			out = append(out, f)
		}
	}
	return append(out, j.Reports...)
}

// withdrawn are the open actions that nobody has begun and that this pass does not call
// for any more, or that are held now.
func (v *view) withdrawn(drafts []*draft) []string {
	wanted := map[stepKey]bool{}
	for _, r := range drafts {
		for i := range r.steps {
			wanted[r.steps[i].key()] = len(r.holds) == 0
		}
	}
	gone := map[string]bool{}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		if a.Seq == 0 && !a.begun() && a.Outcome == OutcomePending && !wanted[a.key()] && v.s.Kind == Full {
			gone[a.Remedy] = true
		}
	}
	var out []string
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; gone[a.Remedy] {
			out = append(out, a.ID)
		}
	}
	return out
}
