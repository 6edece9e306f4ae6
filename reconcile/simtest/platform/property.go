package platform

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// An effect is a call that changed something outside, with the action that it belongs to and
// what it was done to.
type effect struct {
	*Step
	p     *process
	a     *reconcile.Action // of the newest claim that fits; nil for none
	claim *claim
	k     *task
	b     *box
	write *reconcile.Write
}

// property is one thing that must always hold of a deed: it says what is wrong, "" for nothing.
type property struct {
	name  string
	check func(*watch, *effect) string
}

// properties of deeds, in the order of the design.
var properties = []property{
	{"P1", (*watch).foreign}, {"P2", (*watch).sacred}, {"P3", (*watch).absent}, {"P4", (*watch).unlooked},
	{"P5", (*watch).early}, {"P6", (*watch).afterOutage}, {"P7", (*watch).late}, {"P8", (*watch).against},
	{"P9", (*watch).unarmed}, {"P14", (*watch).vetoed}, {"P15", (*watch).planted}, {"P15", (*watch).anothers},
	{"harm", (*watch).harms}, {"once", (*watch).twice}, {"lost", (*watch).unclaimed},
}

// Step is called after every call that left a process.
func (t *Platform) Step(s Step) []history.Violation {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.watch
	w.steps, w.at = s.N, t.now()
	p := w.process(s.Process)
	var out []history.Violation
	add := func(property, says string) {
		if says != "" {
			out = append(out, history.Violation{Property: property, Step: s.N, At: s.At, Says: says})
		}
	}
	if d := w.deed(p, &s); d != nil {
		t.account.note(w, d)
		for _, check := range properties {
			add(check.name, check.check(w, d))
		}
		w.did(d)
	}
	add("P1", w.touches(&s))
	add("P9", w.lookerActs(p, &s))
	add("P10", w.disturbs(&s))
	add("P7", w.budgets().overBudget(p, &s))
	add("P12", w.unmeasured(p, &s))
	for _, says := range w.harm().plansIn(p, &s) {
		add("harm", says)
	}
	w.harm().released(&s)
	p.read(&s, moment{s.N, t.now()})
	if !p.last.IsZero() && t.now().Sub(p.last) > time.Minute {
		p.woke = t.now()
	}
	p.last = t.now()
	w.before = nil
	return out
}

// deed is the step as a change of the outside world, nil when it is none.
func (w *watch) deed(p *process, s *Step) *effect {
	if !s.Effect {
		return nil
	}
	d := &effect{Step: s, p: p}
	switch s.Call {
	case "Write":
		write, ok := s.Args.(reconcile.Write)
		if !ok {
			return nil
		}
		d.write, d.k = &write, w.platform.tasks[write.Task.ID]
		d.claimed(actionIn(write.Reason))
	case "Restore":
		d.k = w.platform.tasks[s.ID]
		d.find(func(a *reconcile.Action) bool { return a.Step == reconcile.StepRestore && a.Task == s.ID })
	case "Terminate", "Suspend":
		ref := reconcile.Ref{Provider: s.Party, ID: s.ID}
		d.b = w.platform.boxes[ref]
		d.find(func(a *reconcile.Action) bool {
			return a.Provider == ref.Provider && a.Sandbox == ref.ID &&
				(a.Step == reconcile.StepTerminate) == (s.Call == "Terminate") && a.Step != reconcile.StepResume
		})
		if d.b != nil {
			d.k = d.b.task
		}
	default:
		return nil
	}
	return d
}

func (d *effect) claimed(id string) {
	if c := d.p.claims[id]; c != nil {
		d.claim, d.a = c, &c.action
	}
}

// find takes the process's newest claim on an action that fits. A call may have stood still on its
// way, and another claim been taken since: of that one nothing was read yet.
func (d *effect) find(fits func(*reconcile.Action) bool) {
	read := func(c *claim) bool { return c.step <= d.p.wishes.step }
	for _, c := range d.p.claims {
		newer := d.claim == nil || read(c) && !read(d.claim) || read(c) == read(d.claim) && c.step > d.claim.step
		if fits(&c.action) && newer {
			d.claim, d.a = c, &c.action
		}
	}
}

// ends reports whether the deed ends or stops a sandbox.
func (d *effect) ends() bool { return d.Call == "Terminate" || d.Call == "Suspend" }

// rule is the rule that the deed was done by.
func (d *effect) rule() string {
	if d.a == nil {
		return ""
	}
	return d.a.Rule
}

// asked reports whether a person asked for it.
func (d *effect) asked() bool {
	return d.rule() == reconcile.RuleOperator || d.rule() == reconcile.RuleEmergency
}

// what names the deed.
func (d *effect) what() string {
	by := d.rule()
	if by == "" {
		by = "nobody"
	}
	if d.ends() {
		return fmt.Sprintf("%s of %s/%s by %s", d.Call, d.Party, d.ID, by)
	}
	id := d.ID
	if d.write != nil {
		id = fmt.Sprintf("%s (%s: %s)", d.write.Task.ID, d.write.Step, d.write.Reason)
	}
	return fmt.Sprintf("%s of task %s by %s", d.Call, id, by)
}

// did notes the deed for those to come.
func (w *watch) did(d *effect) {
	if d.a != nil {
		of := w.act(d.a)
		of.effects++
	}
	if d.Call == "Terminate" {
		w.boxes[reconcile.Ref{Provider: d.Party, ID: d.ID}] = &ending{at: w.at, by: d.Process, told: d.Err == nil,
			late: w.at.Sub(d.p.last) > time.Minute || w.at.Sub(d.p.woke) < time.Second}
	}
	w.platform.count(fmt.Sprintf("%s by %s", d.Call, d.rule()))
	w.platform.fleet().look()
}

func (w *watch) act(a *reconcile.Action) *acted {
	of := w.acts[a.ID]
	if of == nil {
		of = &acted{action: *a}
		w.acts[a.ID] = of
	}
	return of
}

// elapsed is how long ago a moment truly was, or longer if a domain's clock counts it so: one that
// was set back does not make anything younger.
func (w *watch) elapsed(domain string, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(w.since(domain, at.Add(-1)), w.platform.now().Sub(at)) // a jump at that very moment counts
}

// since is how long ago a moment of the bubble's time was, as a domain's clock counts it.
func (w *watch) since(domain string, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return w.platform.clocks.of(domain).Sub(w.platform.clocks.then(domain, at))
}
