package run

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Preview is what an operator's request would end now and what it would leave, as a person
// sees it before saying yes. It changes nothing.
type Preview struct {
	Rule    string      // [RuleOperator] or [RuleEmergency]
	End     []Previewed // by provider and id
	Left    []Previewed
	Foreign int      // sandboxes that are not ours: never touched
	Waits   []string // pauses: what is asked for waits until they end

	phrase string
	how    reconcile.AskOptions
}

// A Previewed is one sandbox of the preview.
type Previewed struct {
	reconcile.Ref
	Name   string
	Raw    string // the provider's word for its state; "" when it was not seen now
	Task   string
	Status string // of the task, when its row was read
	Why    string // why it is left
}

// Emergency previews an emergency clean-up from a full look: all that is ours. provider
// narrows it to one entry.
func (r *Result) Emergency(provider string, how reconcile.AskOptions) *Preview {
	v := r.Judged.View
	e := &Preview{Rule: reconcile.RuleEmergency, how: how}
	seen := map[reconcile.Ref]bool{}
	for i := range r.Judged.Decisions {
		s := r.Judged.Decisions[i].Subject
		for j := range s.Boxes {
			seen[s.Boxes[j].Ref] = true
			if provider == "" || s.Boxes[j].Provider == provider {
				e.weigh(v, s, &s.Boxes[j])
			}
		}
	}
	for ref, box := range v.S.Memory.Sandboxes.All() {
		if !seen[ref] && (provider == "" || ref.Provider == provider) && box.GoneAt.IsZero() {
			e.weighUnseen(v, box)
		}
	}
	for name, n := range r.Counts {
		of := reconcile.ParseCount(name)
		if of.What == reconcile.CountForeign && (provider == "" || of.Provider == provider) {
			e.Foreign += n
		}
	}
	e.pauses(v, func(of string) bool { return provider == "" || of == provider })
	return e.done(v)
}

// Ending previews the end of one sandbox, by its id, its name or provider/id, or of all
// sandboxes of a task, from a full look that came to this decision on it.
func (r *Result) Ending(d *decide.Decision, id string, how reconcile.AskOptions) *Preview {
	v := r.Judged.View
	e := &Preview{Rule: reconcile.RuleOperator, how: how}
	best := 0
	for i := range d.Subject.Boxes {
		best = max(best, d.Subject.Boxes[i].Fits(id))
	}
	at := map[string]bool{}
	for i := range d.Subject.Boxes {
		if b := &d.Subject.Boxes[i]; b.Fits(id) == best {
			e.weigh(v, d.Subject, b)
			at[b.Provider] = true
		}
	}
	e.pauses(v, func(of string) bool { return at[of] })
	return e.done(v)
}

func (e *Preview) done(v *view.View) *Preview {
	for _, list := range [][]Previewed{e.End, e.Left} {
		slices.SortFunc(list, func(a, b Previewed) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	}
	things := "sandboxes"
	if len(e.End) == 1 {
		things = "sandbox"
	}
	e.phrase = fmt.Sprintf("terminate %d %s of %s", len(e.End), things, v.P.Installation)
	return e
}

// Phrase is what a person types to confirm the clean-up.
func (e *Preview) Phrase() string { return e.phrase }

// Hash names the list, so that a confirmation of one list never confirms another.
func (e *Preview) Hash() string {
	refs := make([]string, 0, len(e.End))
	for i := range e.End {
		refs = append(refs, e.End[i].String())
	}
	return reconcile.SubjectsHash(refs)
}

// Actions are what is to be asked for.
func (e *Preview) Actions() []reconcile.Action {
	actions := make([]reconcile.Action, 0, len(e.End))
	for i := range e.End {
		actions = append(actions, reconcile.AskTerminate(e.Rule, e.End[i].Ref, e.End[i].Task, e.how))
	}
	return actions
}

// weigh puts one sandbox on one of the two lists. One that is not there any more is on none.
func (e *Preview) weigh(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) {
	if !b.Here && !b.Gone {
		e.weighUnseen(v, b.Seen())
	}
	if !b.Here || b.State == reconcile.SandboxEnded || b.State == reconcile.SandboxDeleting {
		return
	}
	out := Previewed{Ref: b.Ref, Name: b.Name, Raw: b.Raw, Task: reconcile.FirstOf(b.Task, b.Seen().Task)}
	if s.Task != nil {
		out.Task, out.Status = s.Task.ID, s.Task.Status
	}
	e.put(v, out, b, s.Task)
}

// weighUnseen is for a sandbox that no listing showed, of a source that is not trusted: it is
// looked at before anything is done to it.
func (e *Preview) weighUnseen(v *view.View, seen reconcile.SandboxSeen) {
	_, configured := v.P.Providers[seen.Provider]
	if !e.how.Anyway || !configured || v.Trusted(reconcile.ListingOf(seen.Provider)) {
		return
	}
	out := Previewed{Ref: seen.Ref, Name: seen.Name, Task: seen.Task}
	b := reconcile.Box(&reconcile.Sandbox{Ref: seen.Ref, Name: seen.Name, Owned: true})
	b.Was = seen.Compact()
	e.put(v, out, &b, v.Live[seen.Task])
}

func (e *Preview) put(v *view.View, out Previewed, b *reconcile.SeenSandbox, t *reconcile.Task) {
	if t == nil && out.Task != "" {
		for _, known := range v.RemembersWorking([]string{out.Task}, nil) {
			t, out.Status = &known, known.Status
		}
	}
	out.Why = viewEnds(v, b.Ref)
	if out.Why == "" {
		out.Why = viewSpares(v, e, b, t)
	}
	if out.Why == "" {
		e.End = append(e.End, out)
		return
	}
	e.Left = append(e.Left, out)
}

// viewEnds says how the sandbox is being ended already, so that it need not be asked for twice. An
// end that gives way does not count: it waits for a mode, a budget or a quarantine.
func viewEnds(v *view.View, ref reconcile.Ref) string {
	for i := range v.S.Memory.Actions {
		a := &v.S.Memory.Actions[i]
		if a.Step == reconcile.StepTerminate && a.Provider == ref.Provider && a.Sandbox == ref.ID && !a.GivesWay(v.Now) {
			return fmt.Sprintf("its end is recorded already, by %s (action %s)", a.Rule, a.ID)
		}
	}
	return ""
}

// viewSpares says why the sandbox is not ended although a person asks for it.
func viewSpares(v *view.View, e *Preview, b *reconcile.SeenSandbox, t *reconcile.Task) string {
	a := reconcile.Action{Rule: e.Rule, Subject: reconcile.BoxSubject(b.Ref), Step: reconcile.StepTerminate}
	at := reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject, Provider: b.Provider, Sandbox: b.ID,
		Task:  reconcile.FirstOf(b.Task, b.Seen().Task),
		Names: []string{b.Name, b.AltKey}, Labels: b.Labels}
	wishes := v.S.Memory.Controls
	wishes.Pauses = nil
	holds := reconcile.StepHolds(&wishes, &a, at)
	var users []reconcile.Task
	if t != nil {
		users = append(users, *t)
		at.Task = t.ID
		holds = holds.With(reconcile.StepHolds(&wishes, &a, at)...)
	}
	frozen, newborn := v.FrozenFor(b.Provider, a.Subject), decide.Newborn(v, b)
	switch {
	case len(holds) > 0:
		return holds.String()
	case !b.Owned:
		return "it is not proven ours"
	case b.Unproven != "" && e.Rule == reconcile.RuleEmergency:
		return "it is not proven ours: " + b.Unproven
	case b.NotTerminable != "":
		return "it cannot be terminated: " + text.Clip(b.NotTerminable, 200)
	case t != nil && decide.TaskWorking(t) && !e.how.Running:
		return fmt.Sprintf("task %s is %s in it (--include-running)", text.Clip(t.ID, 60), text.Clip(t.Status, 60))
	case t == nil && v.S.Explained[b.Ref] != "" && !e.how.Running:
		return "a row of " + v.S.Explained[b.Ref] + " explains it (--include-running)"
	case e.Rule == reconcile.RuleEmergency && v.MaybeAnothers(b.Sandbox, users...) && !e.how.Anyway:
		return reconcile.HeldShared().String() + " (--anyway)"
	case len(frozen) > 0 && !e.how.Anyway:
		return frozen.String() + " (--anyway)"
	case t == nil && newborn != "" && !e.how.Running:
		return newborn
	}
	return ""
}

// pauses are those that keep what is asked for waiting.
func (e *Preview) pauses(v *view.View, concerns func(provider string) bool) {
	for _, p := range v.S.Memory.Controls.Pauses {
		of, isProvider := reconcile.OfType(reconcile.SubjectProvider, p.Scope)
		if p.Scope == "all" || isProvider && concerns(of) {
			e.Waits = append(e.Waits, p.Held().String())
		}
	}
}
