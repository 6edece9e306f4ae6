package simtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// When the faults have stopped, everything must be repaired within this many full passes, and
// stay so for enough of them. It covers the longest that the product waits by design: timers
// that start anew after an outage, probes that rotate (10 minutes), an inactive worker or a
// finished one that lingers (15 minutes), back-off (5 minutes), and the remedies that budgets
// let begin one a pass.
const (
	mostFull   = 60
	enoughFull = 3
)

// A calm is the end of a history: no fault strikes any more, and everything is to come right.
type calm struct {
	on    bool
	most  int // full passes until everything must have come right
	full  int // full passes so far
	quiet int // of these, the last ones in a row that had nothing to do
	left  string
}

// beginCalm lifts all faults. The operator takes back what would keep the plan from becoming
// empty, and from then on lets go what a person has to let go.
func (e ending) beginCalm() {
	e.log.add(e.engine, "from now on it is calm")
	e.calm.on = true
	e.endFaults()
	e.traps = nil
	for _, p := range e.living {
		p.frozen = 0
	}
	e.place.Calm()
	if e.o.Tail > 0 {
		e.after(e.o.Tail, e.finish)
		return
	}
	e.takeBack()
	e.config.own, e.config.without = map[string][][]string{}, map[string]string{} // one version everywhere
	for _, r := range e.replica {
		r.reload = true
	}
	if e.o.Janitor != nil || !e.makesPasses() {
		e.finish()
		return
	}
	if !e.place.Alone() {
		e.tend()
	}
	e.calm.most = mostFull + e.hourly()
	e.after(time.Duration(2*e.calm.most)*e.fullEvery(), func() { e.lively("no full passes come any more") })
}

// hourly is how many full passes more it may take because the budget of an hour is small: what
// a disaster leaves is about forty remedies.
func (e ending) hourly() int {
	hour := int(time.Hour / max(e.fullEvery(), time.Minute))
	return hour * 40 / max(e.place.Policy().Limits.PerHour, 1)
}

func (e ending) takeBack() {
	c, _ := e.ledger.Controls(e.ctx) // fails only when the context has ended
	for _, p := range c.Pauses {
		e.operators().wish(operatorRequest{what: "resume", on: p.Scope})
	}
	for _, h := range c.Holds {
		e.operators().wish(operatorRequest{what: "unhold", on: fmt.Sprint(h.ID)})
	}
	for _, rule := range history.SortedKeys(c.Modes) {
		e.operators().wish(operatorRequest{what: "mode", on: rule, mode: "clear"})
	}
}

// tend lets go, every two minutes, what only a person may let go: open breakers, incidents, and
// sources that are still frozen.
func (e ending) tend() {
	ctx := e.ctx
	c, _ := e.ledger.Controls(ctx) // fails only when the context has ended
	for _, rule := range history.SortedKeys(c.Breakers) {
		e.operators().wish(operatorRequest{what: "release", on: "breaker:" + rule, last: time.Hour})
	}
	if slices.ContainsFunc(c.Incidents, func(in reconcile.Incident) bool { return in.Holds() }) {
		e.operators().wish(operatorRequest{what: "release-incident", on: "all"})
	}
	sources, _ := e.ledger.Sources(ctx)
	for _, name := range history.SortedKeys(sources) {
		if s := sources[name]; !s.Trusted && e.calm.full > 5 && !e.mends(s, sources) {
			e.operators().wish(operatorRequest{what: "release", on: name, last: time.Hour})
		}
	}
	e.after(2*time.Minute, e.tend)
}

// mends reports whether a source has to be believed again without a person: a listing, probes and
// clocks that are whole again. A listing that does not show any more what was given to somebody
// else stays as it is. So does one that shows nothing where nothing was ever proven ours, because a provider's clock is
// not believed: the ledger remembers none that it could ask for.
func (e ending) mends(s reconcile.SourceSeen, sources map[string]reconcile.SourceSeen) bool {
	switch kind, of := reconcile.SourceParts(s.Name); kind {
	case reconcile.SourceClock:
		_, provider := reconcile.ClockProvider(s.Name) // which nobody sets right again
		return !s.Stuck() && !provider
	case reconcile.SourceListing:
		return !e.place.Taken(of) && !(s.ShowedNone() && anyClockOut(sources))
	case reconcile.SourceProbes:
		return true
	}
	return false
}

// anyClockOut reports whether the clock of some provider is not believed.
func anyClockOut(sources map[string]reconcile.SourceSeen) bool {
	for name, s := range sources {
		if _, provider := reconcile.ClockProvider(name); provider && !s.Trusted {
			return true
		}
	}
	return false
}

// fullEvery is the longest time between two full passes by the schedules.
func (e ending) fullEvery() time.Duration {
	var longest time.Duration
	for _, line := range e.script.Setup {
		if s, err := parseProcess(line.Args); line.Verb == verbProcess && err == nil && s.name != kindLook {
			longest = max(longest, s.every, s.full)
		}
	}
	return longest
}

func (e ending) makesPasses() bool { return e.fullEvery() > 0 }

// judgeCalm ends the history when enough full passes found nothing to do, or when it took too
// many.
func (e ending) judgeCalm(p *process, r *run.Result, err error) {
	looks := strings.HasPrefix(p.name, kindLook)
	if !e.calm.on || e.over || e.o.Tail > 0 || looks || r != nil && r.Due != reconcile.Full {
		return
	}
	e.calm.full++
	if e.calm.left = e.leftover(r, err); e.calm.left == "" {
		e.calm.quiet++
	} else {
		e.calm.quiet = 0
	}
	switch {
	case e.calm.quiet == enoughFull:
		e.finish()
	case e.calm.full >= e.calm.most:
		e.lively(e.calm.left)
	}
}

// leftover is something that is still to be done; "" when there is nothing.
func (e ending) leftover(r *run.Result, err error) string {
	if r == nil || err != nil {
		return fmt.Sprintf("a pass failed: %v", err)
	}
	if !r.Complete {
		return "a pass is not complete: " + r.Error
	}
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		lasts := byConfig(s.HeldBy) || e.alone(r, s) || e.shielded(s) || e.ageless(s.HeldBy, &s.Action) ||
			e.passedOn(s.HeldBy, &s.Action) || e.unnamed(s)
		if !lasts && !e.evils(&s.Action) {
			return fmt.Sprintf("the plan has: %s %s of %s %s, held by %q", s.Rule, s.Step, s.Subject, s.Sandbox, s.HeldBy)
		}
	}
	open, _ := e.ledger.OpenActions(e.ctx) // fails only when the context has ended
	now, _ := e.ledger.Now(e.ctx)
	for i := range open {
		if a := &open[i]; !waits(a, now) && e.enforced(a.Rule) && !e.leftOpen(a) && !e.evils(a) && !e.behind(a, open) {
			return fmt.Sprintf("an action is open: %s %s of %s %s, %s after %d attempts: %s", a.Rule, a.Step, a.Subject,
				a.Sandbox, a.Outcome, a.Attempts, a.Detail)
		}
	}
	for _, wrong := range e.place.Wrong() {
		rests := func(a reconcile.Action) bool { return strings.Contains(wrong, a.Sandbox) && !e.enforced(a.Rule) }
		doubted := func(s decide.PlannedStep) bool {
			lasts := s.HeldBy.Unprovable() || s.HeldBy.Doubtful(reconcile.OnlyRemembered) ||
				e.shielded(&s) || e.ageless(s.HeldBy, &s.Action) || e.passedOn(s.HeldBy, &s.Action) || e.unnamed(&s)
			of := s.Sandbox != "" && strings.Contains(wrong, s.Sandbox) || strings.HasPrefix(wrong, "task "+s.Task+" is ")
			return lasts && of
		}
		if !slices.ContainsFunc(open, rests) && !slices.ContainsFunc(r.Plan.Steps, doubted) {
			return "not repaired: " + wrong
		}
	}
	return ""
}

// evils reports whether a step is about what is the evil tenant's.
func (e ending) evils(a *reconcile.Action) bool {
	return e.place.Evils(a.Task, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
}

// alone reports whether a step waits, for ever, for something to compare its sandbox with: its
// provider has no other that runs, is proven ours, and could answer.
func (e ending) alone(r *run.Result, s *decide.PlannedStep) bool {
	at := slices.IndexFunc(s.HeldBy, func(h reconcile.Held) bool {
		_, provider := reconcile.SourceParts(h.What)
		return h == reconcile.HeldUnwitnessed(provider) || h == reconcile.HeldFrozen(reconcile.ProbesOf(provider))
	})
	if at < 0 {
		return false
	}
	_, provider := reconcile.SourceParts(s.HeldBy[at].What)
	for i := range r.Judged.Decisions {
		subject := r.Judged.Decisions[i].Subject
		for _, b := range subject.Boxes {
			own := b.ID == s.Sandbox || s.Sandbox == "" && subject.ID == s.Subject // the write of a row names none
			runs := b.Here && b.State == reconcile.SandboxRunning && b.Provider == provider && b.Unproven == ""
			if runs && !own && e.place.Answers(b.Ref) {
				return false
			}
		}
	}
	return true
}

// shielded reports whether a step is held for good because its sandbox may be that of a task that lives, and truly is
// needed, or one truly has none: who shows it cannot know more.
func (e ending) shielded(s *decide.PlannedStep) bool {
	ref := reconcile.Ref{Provider: s.Provider, ID: s.Sandbox}
	unmatched := len(s.HeldBy) > 0 && s.HeldBy[0].Kind == reconcile.HeldUnmatched
	return unmatched && (e.place.Needed(ref) || e.place.Nobodys(ref) || e.place.Lonely())
}

// ageless reports whether a step is held for good because its sandbox seems older than its row, and a clock that
// tells the age of one of them has jumped since: by what can be read it is older.
func (e ending) ageless(held reconcile.HeldBy, a *reconcile.Action) bool {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	return held.Doubtful(reconcile.OlderThanRow) && e.place.Ageless(a.Task, ref)
}

// passedOn reports whether a step is held for good because its sandbox carries the label of another task than the row
// that names it, and truly was handed on: which of the two is right only a person can know.
func (e ending) passedOn(held reconcile.HeldBy, a *reconcile.Action) bool {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	doubtful := held.Doubtful(reconcile.NamesAnother) || held.Doubtful(reconcile.NamedAlike)
	return doubtful && e.place.HandedOn(a.Task, ref)
}

// unnamed reports whether a step is held for good because its task may go on in a sandbox that nothing shows to be
// ours, and truly one is there that nobody can tell from that.
func (e ending) unnamed(s *decide.PlannedStep) bool {
	_, unlooked := s.HeldBy.Of(reconcile.HeldUnlooked)
	return unlooked && e.place.GoesOnUnnamed(s.Task)
}

// behind reports whether an action is a later step of a remedy whose first one is left open: it waits with that.
func (e ending) behind(a *reconcile.Action, open []reconcile.Action) bool {
	return a.Seq > 0 && a.Attempts == 0 && slices.ContainsFunc(open, func(first reconcile.Action) bool {
		return first.Remedy == a.Remedy && first.Seq < a.Seq && e.leftOpen(&first)
	})
}

// byConfig reports whether a step is held by what the config says, which lasts.
func byConfig(held reconcile.HeldBy) bool {
	_, lasts := held.Of(reconcile.HeldObserve, reconcile.HeldOff, reconcile.HeldRollout, reconcile.HeldNotExclusive,
		reconcile.HeldVeto, reconcile.HeldSilence, reconcile.HeldUnproven, reconcile.HeldOnlyReports,
		reconcile.HeldExplained) // by a row of a further table, whatever is wrong with it
	return lasts || held.Unprovable() || held.Doubtful(reconcile.OnlyRemembered)
}

// leftOpen reports whether an action is for a person: its sandbox was given to somebody else while
// it went, or its quarantine ends while nobody lives who could prove that link and rows are whole.
func (e ending) leftOpen(a *reconcile.Action) bool {
	held := a.WaitsFor
	if _, shared := held.Of(reconcile.HeldNotExclusive); shared {
		return e.place.Taken(a.Provider)
	}
	by, _ := held.Of(reconcile.HeldFreeze)
	if _, probes := reconcile.OfKind(reconcile.SourceProbes, by.What); probes && e.place.Policy().Tasks.Tenants {
		return true // of few tenants one that lets its own fail is many
	}
	if held.Unprovable() || e.ageless(held, a) {
		return true
	}
	if _, unmatched := held.Of(reconcile.HeldUnmatched); unmatched {
		return e.place.Nobodys(reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	}
	sources, _ := e.ledger.Sources(e.ctx) // fails only when the context has ended
	doubted := func(name string) bool {   // or a part of it: whose the sandbox is, a process may not know any more
		for of, s := range sources {
			if whole, _ := reconcile.SourceTenant(of); whole == name && !s.Trusted {
				return true
			}
		}
		return false
	}
	return a.Seq > 0 && a.Step == reconcile.StepTerminate && a.Attempts == 0 && (doubted("link") || doubted("tasks"))
}

// waits reports whether an action only waits for the end of a quarantine.
func waits(a *reconcile.Action, now time.Time) bool {
	return a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomePending && a.Attempts == 0 && a.Seq > 0 &&
		a.NextAttempt.After(now)
}

// enforced reports whether the config lets a rule act on everything that it finds. What it does
// not let be done stays open.
func (e ending) enforced(rule string) bool {
	p := e.place.Policy()
	r, known := p.Rules[rule]
	return !known || r.Mode == reconcile.Enforce && r.Rollout >= 100 && r.Remedy != reconcile.Report && !p.NeedsProof(rule)
}

func (e ending) lively(left string) {
	if e.over {
		return
	}
	says := fmt.Sprintf("%d full passes after the last fault: %s", e.calm.full, left)
	e.violate([]history.Violation{{Property: "live", Step: e.steps, Says: says}})
	e.over = true
}

// finish ends the history well.
func (e ending) finish() {
	e.violate(e.place.End())
	for _, w := range e.o.Watch {
		e.violate(w.End())
	}
	e.over = true
}

// ending is the end of a history: nothing more goes wrong, and all that is wrong must be mended.
type ending struct{ *engine }

func (e *engine) ending() ending { return ending{e} }
