package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// A freeing foretells what may be done once something holds no more, as far as the ledger remembers. It is for people
// to read before they say yes, and decides nothing: what is done the keeper plans and rules on anew.
type freeing struct {
	m      *reconcile.Memory
	policy reconcile.Policy
	boxes  map[string][]reconcile.Ref // that exist, by the task that they were linked to and by what rows call them

	ends, fails, others []api.PreviewLine // what is done, each to one thing
	left                []api.PreviewLine // what something else holds on
}

// freeingOf foretells what may be done without the holds that are lifted, and what waits of the steps on record.
func (a Operator) freeingOf(ctx context.Context, lifted func(of *reconcile.Finding, by reconcile.Held) bool,
	waits func(*reconcile.Action) bool) (*freeing, error) {
	m, err := a.Ledger.Recall(ctx)
	if err != nil {
		return nil, err
	}
	findings, err := a.Ledger.OpenFindings(ctx)
	if err != nil {
		return nil, err
	}
	w := &freeing{m: &m, policy: a.Config.Policy()}
	w.foretell(findings, lifted, waits)
	return w, nil
}

// foretell takes what is freed of the findings and of the steps that are recorded.
func (w *freeing) foretell(findings []reconcile.FindingSeen, lifted func(*reconcile.Finding, reconcile.Held) bool,
	waits func(*reconcile.Action) bool) {
	w.index()
	for i := range w.m.Actions {
		if step := &w.m.Actions[i]; waits(step) {
			w.step(step.Step, step.Task, reconcile.Ref{Provider: step.Provider, ID: step.Sandbox}, step.Rule)
		}
	}
	for i := range findings {
		w.finding(&findings[i].Finding, lifted)
	}
	for _, list := range []*[]api.PreviewLine{&w.ends, &w.fails, &w.others, &w.left} {
		slices.SortFunc(*list, func(a, b api.PreviewLine) int { return cmp.Compare(a.String(), b.String()) })
		*list = slices.Compact(*list)
	}
}

func (w *freeing) index() {
	w.boxes = map[string][]reconcile.Ref{}
	for ref, b := range w.m.Sandboxes.All() {
		if !b.GoneAt.IsZero() || b.State == reconcile.SandboxEnded || b.State == reconcile.SandboxDeleting {
			continue
		}
		for _, key := range []string{"task:" + b.Task, "box:" + b.ID, "box:" + b.Name} {
			w.boxes[key] = append(w.boxes[key], ref)
		}
	}
}

// finding takes a due one that something holds which is lifted, and nothing else does.
func (w *freeing) finding(f *reconcile.Finding, lifted func(*reconcile.Finding, reconcile.Held) bool) {
	var rest reconcile.HeldBy
	for _, by := range f.HeldBy {
		if !lifted(f, by) {
			rest = append(rest, by)
		}
	}
	switch {
	case !f.Due || len(rest) == len(f.HeldBy):
	case len(rest) > 0:
		w.left = append(w.left, said(f.Subject, rest.String()))
	default:
		w.remedy(f)
	}
}

// remedy is what the rule of a finding does about it: to the row of a task that is live, and to its sandboxes; else to
// the sandbox alone.
func (w *freeing) remedy(f *reconcile.Finding) {
	remedy, step := w.policy.Rules[f.Rule].Remedy, reconcile.StepTerminate
	switch remedy {
	case reconcile.Report:
		w.left = append(w.left, said(f.Subject, f.Rule+" only reports"))
		return
	case reconcile.Activate:
		w.others = append(w.others, said(f.Subject, "activated ("+f.Rule+")"))
		return
	case reconcile.Quarantine, reconcile.Stop:
		step = reconcile.StepQuarantine
	}
	t, known := w.m.Tasks.Get(f.Task)
	alone := remedy == reconcile.Terminate || remedy == reconcile.Stop ||
		remedy == reconcile.Quarantine && !reconcile.RuleNamed(f.Rule).RowFirst
	if alone || !known || t.State.Terminal() {
		w.step(step, "", reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}, f.Rule)
		return
	}
	row := reconcile.StepFail
	if remedy == reconcile.Requeue {
		row = reconcile.StepRequeue
	}
	w.step(row, f.Task, reconcile.Ref{}, f.Rule)
	if w.policy.Tasks.KeepSandboxes {
		return
	}
	own := w.boxes["task:"+f.Task]
	if t.Sandbox != "" {
		own = slices.Concat(own, w.boxes["box:"+t.Sandbox])
	}
	for _, ref := range own {
		w.step(step, f.Task, ref, f.Rule)
	}
}

// said is a line of a preview, cleaned.
func said(subject, says string) api.PreviewLine {
	return api.PreviewLine{Subject: text.Line(subject), Says: text.Line(says)}
}

// step says one of them.
func (w *freeing) step(step reconcile.Step, task string, ref reconcile.Ref, rule string) {
	row, box := reconcile.TaskSubject(task), reconcile.BoxSubject(ref)
	switch {
	case step == reconcile.StepFail:
		w.fails = append(w.fails, said(row, "marked failed ("+rule+")"))
	case step == reconcile.StepRequeue:
		w.fails = append(w.fails, said(row, "set back to be run again, or marked failed ("+rule+")"))
	case ref.ID == "":
	case step == reconcile.StepTerminate:
		w.ends = append(w.ends, said(box, "terminated ("+rule+")"))
	case step == reconcile.StepQuarantine:
		w.others = append(w.others, said(box, "stopped ("+rule+")"))
	default:
		w.others = append(w.others, said(box, string(step)+" ("+rule+")"))
	}
}

// into adds it to a preview.
func (w *freeing) into(p *api.Preview) {
	p.Steps = slices.Concat(w.ends, w.fails, w.others)
	p.Left = append(p.Left, w.left...)
	if len(p.Steps) == 0 {
		p.Will = append(p.Will, "Nothing that is known now is done because of it.")
		return
	}
	counts := reconcile.NonEmpty(counted(len(w.ends), "sandbox", "terminated"), counted(len(w.fails), "task",
		"marked failed or set back"), counted(len(w.others), "further step", "taken"))
	p.Will = append(p.Will, "Then, as far as is known now: "+strings.Join(counts, ", ")+". Each is named below.",
		"Right before each the keeper looks at both worlds again and leaves what is held, used or not ours.")
}

func counted(n int, noun, done string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 %s is %s", noun, done)
	}
	return console.Plural(n, noun) + " are " + done
}

// freedByRelease foretells what a release of these subjects lets go on: by a breaker, a source or an incident.
func (a Operator) freedByRelease(ctx context.Context, name string, subjects []string) (*freeing, error) {
	id, incident := reconcile.OfType(reconcile.SubjectIncident, name)
	rule, _ := reconcile.OfType(reconcile.SubjectBreaker, name)
	return a.freeingOf(ctx, func(f *reconcile.Finding, by reconcile.Held) bool {
		switch {
		case !slices.Contains(subjects, f.Subject):
			return false
		case incident:
			return by.Kind == reconcile.HeldIncident && by.What == id
		case by.Kind == reconcile.HeldBreaker:
			return f.Rule == rule
		}
		return reconcile.HeldBy{by}.Has(reconcile.HeldFrozen(name))
	}, func(step *reconcile.Action) bool {
		return incident && step.Seq > 0 && step.Attempts == 0 && slices.Contains(subjects, step.Subject)
	})
}

// FreedLines are what a release lets go on, a line each, and what something else holds on.
func (a Operator) FreedLines(ctx context.Context, name string, subjects []string) ([]string, error) {
	w, err := a.freedByRelease(ctx, name, subjects)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, step := range slices.Concat(w.ends, w.fails, w.others) {
		lines = append(lines, "done then: "+step.String())
	}
	return append(lines, leftLines(w.left)...), nil
}

// freedBy foretells what a request lets go on. ok is false for one that lets nothing go on.
func (a Operator) freedBy(ctx context.Context, verb string, act api.Act) (w *freeing, ok bool, err error) {
	never := func(*reconcile.Action) bool { return false }
	switch verb {
	case "resume":
		scope, err := a.PauseScope(reconcile.NonEmpty(act.Target))
		if err != nil {
			return nil, false, err
		}
		w, err = a.freeingOf(ctx, func(_ *reconcile.Finding, by reconcile.Held) bool {
			return by.Kind == reconcile.HeldPause && by.What == scope
		}, func(step *reconcile.Action) bool { return a.waitsForPause(step, scope) })
		return w, true, err
	case "unhold":
		targets, err := Targets(act.Target)
		if err != nil {
			return nil, false, err
		}
		w, err = a.freeingOf(ctx, func(_ *reconcile.Finding, by reconcile.Held) bool {
			return by.Kind == reconcile.HeldHold && slices.Contains(targets, by.What)
		}, never)
		return w, true, err
	case "mode":
		if a.Config.Policy().Rules[act.Target].Mode != reconcile.Enforce {
			return nil, false, nil
		}
		w, err = a.freeingOf(ctx, func(f *reconcile.Finding, by reconcile.Held) bool {
			return f.Rule == act.Target && (by.Kind == reconcile.HeldObserve || by.Kind == reconcile.HeldOff)
		}, never)
		return w, true, err
	}
	return nil, false, nil
}

// waitingFor says in the preview of a pause what waits then.
func (a Operator) waitingFor(ctx context.Context, target string, p *api.Preview) error {
	scope, err := a.PauseScope(reconcile.NonEmpty(target))
	if err != nil {
		return err
	}
	m, err := a.Ledger.Recall(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i := range m.Actions {
		if a.waitsForPause(&m.Actions[i], scope) {
			n++
		}
	}
	p.Will = append(p.Will, "Of what is recorded "+console.Plural(n, "step")+" that nobody has begun will wait, as will "+
		"what is found from now on. What a provider was asked for already goes on.")
	return nil
}

// waitsForPause reports whether nobody has done a recorded step yet that a pause is about.
func (a Operator) waitsForPause(step *reconcile.Action, scope string) bool {
	about := []string{"all", reconcile.SubjectOf(reconcile.SubjectRule, step.Rule),
		reconcile.SubjectOf(reconcile.SubjectProvider, step.Provider)}
	return step.Outcome == reconcile.OutcomePending && step.Attempts == 0 && slices.Contains(about, scope)
}
