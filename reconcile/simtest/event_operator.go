package simtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// An operatorRequest is what an operator does.
type operatorRequest struct {
	what   string
	on     string // the target, scope, rule, source, id or incident
	mode   string
	last   time.Duration
	only   []string // of what is held, the subjects that are released; nil: all
	insist reconcile.AskOptions
}

var operatorRequests = []string{"hold", "unhold", "pause", "resume", "mode", "release", "release-incident", "terminate",
	"emergency", "restore"}

func parseOperatorRequest(args []string) (operatorRequest, error) {
	w := &words{left: args}
	out := operatorRequest{what: w.oneOf("what the operator does", operatorRequests...)}
	if out.what != "emergency" {
		out.on = w.next("on what")
	}
	options := map[string]func(*words, string){}
	switch out.what {
	case "mode":
		out.mode = w.oneOf("the mode", "observe", "off", "clear")
	case "hold", "pause", "release":
		options["for"] = timeIn(&out.last)
	case "terminate", "emergency":
		options["running"] = func(*words, string) { out.insist.Running = true }
		options["anyway"] = func(*words, string) { out.insist.Anyway = true }
	}
	return out, w.options(options)
}

// by signs what the operator of a history does.
var by = reconcile.Attribution{Author: "ana", Reason: "drill"}

// wish lets the operator do something. What the ledger refuses is nothing done.
func (e operators) wish(w operatorRequest) {
	e.cover.add("operator", w.what)
	switch w.what {
	case "terminate", "emergency":
		e.wishEnd(w)
		return
	case "restore":
		e.wishBack(w)
		return
	}
	args, err := e.wishNow(w)
	if err != nil {
		e.log.add(e.engine, "refused: %v", err)
		return
	}
	e.notice("operator", wishCall(w), args)
}

// wishCall is the method by which a request is written down.
func wishCall(w operatorRequest) string {
	if w.mode == "clear" {
		return "ClearMode"
	}
	return map[string]string{"hold": "Hold", "unhold": "Unhold", "pause": "Pause", "resume": "Resume", "mode": "SetMode",
		"release": "Release", "release-incident": "ReleaseIncident"}[w.what]
}

func (e operators) wishNow(w operatorRequest) (args any, err error) {
	ctx := e.ctx
	until := e.until(w.last)
	switch wishCall(w) {
	case "Hold":
		h := reconcile.Hold{Target: w.on, Author: by.Author, Reason: by.Reason, Until: until}
		h.ID, err = e.ledger.Hold(ctx, h)
		return h, err
	case "Unhold":
		_, err = e.ledger.Unhold(ctx, w.on, by)
	case "Pause":
		p := reconcile.Pause{Scope: w.on, Author: by.Author, Reason: by.Reason, Until: until}
		return p, e.ledger.Pause(ctx, p)
	case "Resume":
		err = e.ledger.Resume(ctx, w.on, by)
	case "SetMode":
		err = e.ledger.SetMode(ctx, w.on, reconcile.Mode(w.mode), by)
	case "ClearMode":
		err = e.ledger.ClearMode(ctx, w.on, by)
	case "Release":
		return e.release(w)
	case "ReleaseIncident":
		return w.on, e.releaseIncidents(w.on)
	}
	return w.on, err
}

// until is a time by the ledger's clock, which it is written down by; zero for no end.
func (e operators) until(last time.Duration) time.Time {
	if last == 0 {
		return time.Time{}
	}
	now, _ := e.ledger.Now(e.ctx) // fails only when the context has ended
	return now.Add(last)
}

// release lets the subjects pass that are held now, or some of them, as `sandkeeper release` does.
func (e operators) release(w operatorRequest) (reconcile.Release, error) {
	subjects, err := e.heldBy(w.on)
	if err != nil || len(subjects) == 0 {
		return reconcile.Release{}, errors.Join(err, errors.New("nothing is held by "+w.on))
	}
	if w.only != nil {
		subjects = w.only
	}
	if w.last == 0 {
		w.last = time.Hour
	}
	r := reconcile.Release{What: w.on, Subjects: subjects, Hash: reconcile.SubjectsHash(subjects), Author: by.Author,
		Reason: by.Reason, Until: e.until(w.last)}
	r.ID, err = e.ledger.Release(e.ctx, r)
	return r, err
}

func (e operators) heldBy(what string) ([]string, error) {
	ctx := e.ctx
	if rule, isBreaker := reconcile.OfType(reconcile.SubjectBreaker, what); isBreaker {
		c, err := e.ledger.Controls(ctx)
		return c.Breakers[rule].Subjects, err
	}
	findings, err := e.ledger.OpenFindings(ctx)
	if err != nil {
		return nil, err
	}
	var subjects []string
	for _, f := range findings {
		if f.HeldBy.Has(reconcile.HeldFrozen(what)) && !slices.Contains(subjects, f.Subject) {
			subjects = append(subjects, f.Subject)
		}
	}
	open, err := e.ledger.OpenActions(ctx)
	if err != nil {
		return nil, err
	}
	now, err := e.ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if s := &open[i]; s.EndHeldBy(what, now) && !slices.Contains(subjects, s.Subject) {
			subjects = append(subjects, s.Subject)
		}
	}
	slices.Sort(subjects)
	if len(subjects) > 0 || what == "tasks" || reconcile.IsClock(what) {
		subjects = append(subjects, reconcile.SubjectOf(reconcile.SubjectSource, what)) // these two are accepted as a whole
	}
	return subjects, nil
}

func (e operators) releaseIncidents(id string) error {
	ctx := e.ctx
	c, err := e.ledger.Controls(ctx)
	if err != nil {
		return err
	}
	none := errors.New("no incident holds anything")
	for _, in := range c.Incidents {
		if in.Holds() && (id == "all" || id == in.ID) {
			none = nil
			if err := e.ledger.ReleaseIncident(ctx, in.ID, by); err != nil {
				return err
			}
		}
	}
	return none
}

// wishEnd looks at both worlds and asks for ends, as `terminate` and `emergency` do.
func (e operators) wishEnd(w operatorRequest) {
	p := e.birth("operator")
	k := e.keeper(p, 0)
	e.run(p, 0, func() func() {
		r, err := k.Plan(p.stop, reconcile.Full)
		return func() {
			e.bury(p)
			if err != nil {
				e.log.add(e.engine, "the operator saw nothing: %v", err)
				return
			}
			e.askEnd(r, w)
		}
	})
}

func (e operators) askEnd(r *run.Result, w operatorRequest) {
	preview := &run.Preview{}
	if w.what == "emergency" {
		preview = r.Emergency("", w.insist)
	} else {
		h, _ := e.ledger.Subject(e.ctx, w.on) // nothing known is a history as well
		d := r.Decision(w.on, h)
		if d == nil {
			e.log.add(e.engine, "the operator does not find %s", w.on)
			return
		}
		preview = r.Ending(d, w.on, w.insist)
	}
	e.asks(preview.Actions(), nil)
}

// asks writes down what the operator asks for. Its ids are numbered, so that the same script
// gives the same bytes.
func (e operators) asks(actions []reconcile.Action, withdraw []string) {
	if len(actions) == 0 {
		return
	}
	remedies := map[string]string{}
	for i := range actions {
		e.asked++
		id := fmt.Sprintf("asked-%d", e.asked)
		if actions[i].ID == actions[i].Remedy {
			remedies[actions[i].Remedy] = id
		}
		actions[i].ID = id
		actions[i].Remedy = remedies[actions[i].Remedy]
	}
	asked, err := e.ledger.Ask(e.ctx, by, actions, withdraw)
	if err != nil {
		e.log.add(e.engine, "refused: %v", err)
		return
	}
	e.notice("operator", "Ask", asked)
	if len(e.replica) == 0 {
		return
	}
	var work reconcile.Work
	for i := range asked {
		if !slices.Contains(work.Remedies, asked[i].Remedy) {
			work.Remedies = append(work.Remedies, asked[i].Remedy)
		}
	}
	e.daemons().kick(work, "")
}

// wishBack asks for the end of a quarantine, as `restore` does, and holds what comes back.
func (e operators) wishBack(w operatorRequest) {
	if w.on == "any" {
		w.on = e.inQuarantine()
	}
	remedy := e.quarantine(w.on)
	if remedy == nil {
		e.log.add(e.engine, "nothing of %s is in quarantine", w.on)
		return
	}
	actions, withdraw := reconcile.AskRestore(remedy)
	e.asks(actions, withdraw)
	for i := range actions {
		target := "sandbox:" + actions[i].Sandbox
		if actions[i].Step == reconcile.StepRestore {
			target = "task:" + actions[i].Task
		}
		e.wish(operatorRequest{what: "hold", on: target, last: 24 * time.Hour})
	}
}

// inQuarantine is a subject of which something is in quarantine; "" when there is none.
func (e operators) inQuarantine() string {
	open, _ := e.ledger.OpenActions(e.ctx) // fails only when the context has ended
	for i := range open {
		if a := &open[i]; a.Seq > 0 && a.Step == reconcile.StepTerminate && e.quarantine(a.Subject) != nil {
			return a.Subject
		}
	}
	return ""
}

// quarantine is the remedy that has something of a subject in quarantine, whole.
func (e operators) quarantine(id string) []reconcile.Action {
	h, err := e.ledger.Subject(e.ctx, id)
	if err != nil {
		return nil
	}
	for i := range h.Actions { // newest first
		a := &h.Actions[i]
		stopped := a.Outcome == reconcile.OutcomeDone || a.Outcome == reconcile.OutcomeAccepted
		if a.Step != reconcile.StepQuarantine || !stopped {
			continue
		}
		steps := e.remedy(a, h.Actions)
		if _, withdraw := reconcile.AskRestore(steps); len(withdraw) > 0 {
			return steps
		}
	}
	return nil
}

// remedy is all of an action's remedy. Its first may be on the task's row, which has a history
// of its own.
func (e operators) remedy(of *reconcile.Action, known []reconcile.Action) []reconcile.Action {
	known = slices.Clone(known)
	if of.Task != "" {
		h, _ := e.ledger.Subject(e.ctx, "task:"+of.Task) // nothing known adds nothing
		known = append(known, h.Actions...)
	}
	seen := map[string]bool{}
	var out []reconcile.Action
	for i := range known {
		if a := known[i]; a.Remedy == of.Remedy && !seen[a.ID] {
			seen[a.ID] = true
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b reconcile.Action) int { return a.Seq - b.Seq })
	return out
}

// operators is what operators do in a history.
type operators struct{ *engine }

func (e *engine) operators() operators { return operators{e} }
