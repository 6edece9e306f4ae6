package web

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A life is what the ledger knows of a task or a sandbox and of what it is linked to.
type life struct {
	*model
	reconcile.History
}

// How much of a history its page shows.
const (
	mostBoxes  = 6
	mostProbes = 12
	mostLines  = 60
)

// TaskPage is one task: both views of it, what happened by whose clock, and what the rules say.
func TaskPage(a *Asked, id string, h reconcile.History) templ.Component {
	l := life{a.modelOf(), h}
	p := ui.Sheet{Frame: frameOf(a, "tasks", "Task "+id)}
	p.Head = l.head()
	p.Head.Text, p.Head.ID = "Task", ui.Name(id)
	p.Head.Acts = []ui.Act{ui.HoldAct(reconcile.TaskSubject(id))}
	if l.policy.Tasks.Requeues && l.failed(id) {
		p.Head.Acts = append(p.Head.Acts, ui.RetryAct(reconcile.TaskSubject(id)))
	}
	p.Blocks = l.blocks()
	return ui.Paper(p)
}

// failed reports whether the newest write of the task's row was our own that failed it: it may be run again.
func (l *life) failed(id string) bool {
	for i := range l.Actions { // newest first
		if a := &l.Actions[i]; a.Step.OnRow() && a.Task == id && a.Outcome == reconcile.OutcomeDone {
			return a.Step == reconcile.StepFail
		}
	}
	return false
}

// SandboxPage is the same of one sandbox.
func SandboxPage(a *Asked, of reconcile.Ref, h reconcile.History) templ.Component {
	l := life{a.modelOf(), h}
	p := ui.Sheet{Frame: frameOf(a, "sandboxes", "Sandbox "+of.String())}
	p.Head = l.head()
	p.Head.Text, p.Head.ID = "Sandbox", ui.Name(of.String())
	p.Head.Acts = []ui.Act{ui.HoldAct(reconcile.BoxSubject(of)), ui.TerminateAct(of.Provider, of.ID)}
	p.Blocks = l.blocks()
	return ui.Paper(p)
}

// head is how the subject stands: the most urgent of its open findings, or whether the two views agree.
func (l *life) head() ui.Headline {
	h := ui.Headline{Level: ui.Calm, Word: "over", Below: l.views()}
	if l.live() {
		h.Level, h.Word = ui.Well, "in agreement"
	}
	if why := l.disagreement(); why != "" {
		h.Level, h.Word, h.Below = ui.Warn, "disagree", ui.Capital(why)+". "+h.Below
	}
	var worst *reconcile.FindingSeen
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.ResolvedAt.IsZero() && (worst == nil || urgency(l.states.of(f)) < urgency(l.states.of(worst))) {
			worst = f
		}
	}
	if worst != nil {
		state := l.states.of(worst)
		h.Level, h.Word = state.Level(), state.Word()
		h.Below = ui.Name(worst.Rule) + ": " + ui.Sentence(text.Plain(worst.Reason, mostHead)) + " " + h.Below
	}
	return h
}

// views are both of them in a sentence.
func (l *life) views() string {
	var words []string
	for i := range l.Tasks[:min(len(l.Tasks), 2)] {
		words = append(words, "the task is "+ui.Name(l.Tasks[i].Status)+" in the database")
	}
	there := 0
	for i := range l.Sandboxes {
		there += truth(l.Sandboxes[i].GoneAt.IsZero())
	}
	switch {
	case len(l.Sandboxes) == 0:
		words = append(words, "no sandbox was seen")
	case there == 0:
		words = append(words, ui.Count(len(l.Sandboxes), "sandbox")+" "+ui.Verb(len(l.Sandboxes), "is", "are")+" gone")
	default:
		words = append(words, ui.Count(there, "sandbox")+" "+ui.Verb(there, "exists", "exist"))
	}
	return ui.Sentence(ui.Capital(strings.Join(words, ", ")))
}

// live reports whether anything of it is still there.
func (l *life) live() bool {
	for i := range l.Tasks {
		if l.Tasks[i].Live {
			return true
		}
	}
	for i := range l.Sandboxes {
		if l.Sandboxes[i].GoneAt.IsZero() {
			return true
		}
	}
	return false
}

// disagreement is what the two views contradict each other in, by what the ledger saw last; "" for nothing.
func (l *life) disagreement() string {
	live, there := 0, 0
	for i := range l.Tasks {
		live += truth(l.Tasks[i].Live)
	}
	for i := range l.Sandboxes {
		there += truth(l.Sandboxes[i].GoneAt.IsZero())
	}
	switch {
	case len(l.Tasks) == 0 && there > 0 && !l.policy.Tasks.None:
		return "a sandbox exists, and no task of it was seen"
	case len(l.Tasks) > 0 && live == 0 && there > 0:
		return "the task is over, and its sandbox exists"
	case live > 0 && there == 0 && len(l.Sandboxes) > 0:
		return "the task is live, and its sandbox is gone"
	case live == 1 && there > 1:
		return fmt.Sprintf("one task has %d sandboxes", there)
	}
	return ""
}

func (l *life) blocks() []ui.Block {
	blocks := []ui.Block{l.taskBlock()}
	for i := range l.Sandboxes[:min(len(l.Sandboxes), mostBoxes)] {
		blocks = append(blocks, l.boxBlock(&l.Sandboxes[i]))
	}
	if len(l.Sandboxes) == 0 {
		blocks = append(blocks, ui.Block{Title: "What the provider says", Half: true,
			Words: []string{"No sandbox was seen."}})
	}
	blocks = append(blocks, ui.Block{Title: "Timeline", Chart: l.drawn(), Aside: "each line by its own clock"},
		l.rulesBlock())
	if len(l.Actions) > 0 {
		blocks = append(blocks, ui.Block{Title: "Actions", Grid: l.steps.grid(l.Actions)})
	}
	if g := l.verdictGrid(); len(g.Rows) > 0 {
		blocks = append(blocks, ui.Block{Title: "Verdicts", Grid: g})
	}
	if g := l.probeGrid(); len(g.Rows) > 0 {
		blocks = append(blocks, ui.Block{Title: "Probes", Grid: g})
	}
	blocks = append(blocks, ui.Block{Title: "History", Aside: "by sandkeeper's clock", Grid: l.historyGrid()})
	return append(blocks, l.logBlocks()...)
}
