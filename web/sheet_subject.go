package web

import (
	"fmt"
	"slices"
	"strings"

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
	p := sheet{frame: frameOf(a, "tasks", "Task "+id)}
	p.Head = l.head()
	p.Head.Text, p.Head.ID = "Task", text.Plain(id, mostName)
	p.Head.Acts = []act{holdAct(reconcile.TaskSubject(id))}
	if l.failed(id) {
		p.Head.Acts = append(p.Head.Acts, retryAct(reconcile.TaskSubject(id)))
	}
	p.Blocks = l.blocks()
	return paper(p)
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
	p := sheet{frame: frameOf(a, "sandboxes", "Sandbox "+of.String())}
	p.Head = l.head()
	p.Head.Text, p.Head.ID = "Sandbox", text.Plain(of.String(), mostName)
	p.Head.Acts = []act{holdAct(reconcile.BoxSubject(of)), terminateAct(of.Provider, of.ID)}
	p.Blocks = l.blocks()
	return paper(p)
}

// head is how the subject stands: the most urgent of its open findings, or whether the two views agree.
func (l *life) head() headline {
	h := headline{Level: calm, Word: "over", Below: l.views()}
	if l.live() {
		h.Level, h.Word = well, "in agreement"
	}
	if why := l.disagreement(); why != "" {
		h.Level, h.Word, h.Below = warn, "disagree", capital(why)+". "+h.Below
	}
	var worst *reconcile.FindingSeen
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.ResolvedAt.IsZero() && (worst == nil || urgency(l.stateOf(f)) < urgency(l.stateOf(worst))) {
			worst = f
		}
	}
	if worst != nil {
		state := l.stateOf(worst)
		h.Level, h.Word = state.Level(), state.Word()
		h.Below = text.Plain(worst.Rule, mostName) + ": " + sentence(text.Plain(worst.Reason, mostHead)) + " " + h.Below
	}
	return h
}

// views are both of them in a sentence.
func (l *life) views() string {
	var words []string
	for i := range l.Tasks[:min(len(l.Tasks), 2)] {
		words = append(words, "the task is "+text.Plain(l.Tasks[i].Status, mostName)+" in the database")
	}
	there := 0
	for i := range l.Sandboxes {
		there += truth(l.Sandboxes[i].GoneAt.IsZero())
	}
	switch {
	case len(l.Sandboxes) == 0:
		words = append(words, "no sandbox was seen")
	case there == 0:
		words = append(words, count(len(l.Sandboxes), "sandbox")+" "+verb(len(l.Sandboxes), "is", "are")+" gone")
	default:
		words = append(words, count(there, "sandbox")+" "+verb(there, "exists", "exist"))
	}
	return sentence(capital(strings.Join(words, ", ")))
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

func (l *life) blocks() []block {
	blocks := []block{l.taskBlock()}
	for i := range l.Sandboxes[:min(len(l.Sandboxes), mostBoxes)] {
		blocks = append(blocks, l.boxBlock(&l.Sandboxes[i]))
	}
	if len(l.Sandboxes) == 0 {
		blocks = append(blocks, block{Title: "What the provider says", Half: true, Words: []string{"No sandbox was seen."}})
	}
	blocks = append(blocks, block{Title: "Timeline", Chart: l.drawn(), Aside: "each line by its own clock"},
		l.rulesBlock())
	if len(l.Actions) > 0 {
		blocks = append(blocks, block{Title: "Actions", Grid: l.actionGrid(l.Actions)})
	}
	if g := l.verdictGrid(); len(g.Rows) > 0 {
		blocks = append(blocks, block{Title: "Verdicts", Grid: g})
	}
	if g := l.probeGrid(); len(g.Rows) > 0 {
		blocks = append(blocks, block{Title: "Probes", Grid: g})
	}
	blocks = append(blocks, block{Title: "History", Aside: "by sandkeeper's clock", Grid: l.historyGrid()})
	return append(blocks, l.logBlocks()...)
}

func (l *life) taskBlock() block {
	b := block{Title: "What the task table says", Half: true}
	if len(l.Tasks) == 0 {
		b.Words = []string{"No task was seen."}
		return b
	}
	t := &l.Tasks[0]
	status := chip(calm, reconcile.FirstOf(text.Plain(t.Status, mostName), "no status")).below("since " +
		text.Time(t.Since) + " (sandkeeper's clock)")
	if t.Live {
		status.Level = busy
	}
	b.Pairs = []pair{
		{"task", taskCell(t.ID)}, {"status", status}, {"sandbox", l.namedBox(t)}, {"tenant", named(t.Tenant)},
		{"started", clockCell(exactly(t.StartedAt), "task database's clock")},
		{"row changed", clockCell(exactly(t.UpdatedAt), "task database's clock")},
		{"last heartbeat", clockCell(exactly(t.BeatAt), "task database's clock")},
		{"first seen", clockCell(ago(t.FirstSeen, l.Now), "sandkeeper's clock")},
		{"failed attempts", attemptsCell(t)}, {"trace of its work", l.trace(t.ID)},
	}
	return b
}

// trace is that which the row of the task named when something was found of it.
func (l *life) trace(task string) cell {
	for i := range l.Findings { // newest first
		if f := &l.Findings[i]; f.Task == task {
			if id := reconcile.TraceIn(f.Evidence); id != "" {
				return cell{ID: id}
			}
		}
	}
	return cell{}
}

func attemptsCell(t *reconcile.TaskSeen) cell {
	if len(t.Attempts) == 0 {
		return cell{}
	}
	return number(len(t.Attempts)).below("the last " + text.Time(t.Attempts[len(t.Attempts)-1]))
}

// namedBox is what the row names as its sandbox; it leads there when that is one that was seen.
func (l *life) namedBox(t *reconcile.TaskSeen) cell {
	value := reconcile.FirstOf(t.Sandbox, t.Named)
	if value == "" {
		return chip(calm, "names none")
	}
	for i := range l.Sandboxes {
		if b := &l.Sandboxes[i]; b.ID == value || b.Name == value {
			return cell{ID: text.Plain(value, mostName), Href: sandboxAddress(b.Provider, b.ID)}
		}
	}
	c := cell{ID: text.Plain(value, mostName)}
	if t.Live {
		c.More = []cell{{Text: " "}, chip(warn, "not seen at a provider")}
	}
	return c
}

func clockCell(m moment, clock string) cell {
	if m.ISO == "" {
		return cell{}
	}
	c := when(m)
	c.Sub = clock
	if m.Text != m.Exact {
		c.Sub = m.Exact + ", " + clock
	}
	return c
}

func (l *life) boxBlock(b *reconcile.SandboxSeen) block {
	state := chip(calm, reconcile.FirstOf(text.Plain(string(b.State), mostName), "unknown")).below("since " +
		text.Time(b.StateSince) + " (sandkeeper's clock)")
	switch {
	case !b.GoneAt.IsZero():
		state = chip(calm, "gone").below("since " + text.Time(b.GoneAt) + goneBy(b))
	case b.State == reconcile.SandboxFailed:
		state.Level = bad
	case b.State.Active():
		state.Level = busy
	}
	if b.Raw != "" && b.Raw != string(b.State) && b.GoneAt.IsZero() {
		state.More = []cell{{Text: " " + text.Plain(b.Raw, mostName)}}
	}
	out := block{Title: "What " + named(b.Provider).Text + " says", Half: true, Pairs: []pair{
		{"sandbox", sandboxCell(b.Provider, b.ID)}, {"state", state}, {"name", cell{ID: text.Plain(b.Name, mostName)}},
		{"task", taskCell(b.Task)},
		{"template", named(b.Template)}, {"created", clockCell(exactly(b.CreatedAt), "provider's clock")},
		{"first seen", clockCell(ago(b.FirstSeen, l.Now), "sandkeeper's clock")},
		{"last probe", l.lastProbe(b.Ref)}, {"price", l.price(b)},
	}}
	return out
}

func goneBy(b *reconcile.SandboxSeen) string {
	if b.GoneByUs {
		return ", terminated by sandkeeper"
	}
	return ""
}

// price is that of the newest verdict on the sandbox, which knew its region and its size, else what its template says.
func (l *life) price(b *reconcile.SandboxSeen) cell {
	for i := range l.Verdicts {
		if v := &l.Verdicts[i]; v.Provider == b.Provider && v.Sandbox == b.ID && v.PerHour > 0 {
			return cell{Text: hourly(v.PerHour)}
		}
	}
	return priceOf(l.policy.Providers[b.Provider], b.Template)
}

// lastProbe is the newest probe of a sandbox, with how many failed in a row.
func (l *life) lastProbe(of reconcile.Ref) cell {
	failed := 0
	var newest *reconcile.ProbeResult
	for i := range l.Probes {
		p := &l.Probes[i]
		if p.Ref != of {
			continue
		}
		if newest == nil {
			newest = p
		}
		if !p.Outcome.Failed() {
			break
		}
		failed++
	}
	if newest == nil {
		return cell{}
	}
	c := probeChip(newest)
	if failed > 1 {
		c.Text += fmt.Sprintf(", %d in a row", failed)
	}
	return c.below(ago(newest.At, l.Now).Text + " " + text.Plain(newest.Detail, mostHead))
}

func probeChip(p *reconcile.ProbeResult) cell {
	l := calm
	switch {
	case p.Outcome.Failed() || p.Worker == reconcile.WorkerDead:
		l = bad
	case p.Outcome == reconcile.Answered:
		l = well
	}
	word := string(p.Outcome)
	if p.Worker != reconcile.WorkerUnknown {
		word += ", worker " + string(p.Worker)
	}
	return chip(l, text.Plain(word, mostName))
}

// rulesBlock is what each rule says of it, with its numbers as far as they are on record.
func (l *life) rulesBlock() block {
	g := &grid{Heads: []string{"rule", "answer", "what was seen", "looks", "acts after"}, Empty: "No rule finds anything."}
	found := map[string]bool{}
	for _, open := range []bool{true, false} {
		for i := range l.Findings {
			f := &l.Findings[i]
			if f.ResolvedAt.IsZero() != open || found[f.Rule] {
				continue
			}
			found[f.Rule] = true
			v := l.finding(f)
			p := l.policy.Rules[f.Rule]
			g.Rows = append(g.Rows, row{Key: "rule " + v.Key, Evidence: v.Evidence, Cells: []cell{
				ruleCell(f.Rule), l.stateCell(f, &v), said(v.Reason).below(overWords(f, l.model)), number(f.Sightings),
				{Text: afterWords(p.After), Num: true}}})
		}
	}
	var rest []string
	for _, rule := range reconcile.RuleNames {
		if l.policy.Judges(rule) && !found[rule] {
			rest = append(rest, rule)
		}
	}
	b := block{Title: "Rules", Grid: g}
	if len(rest) > 0 {
		b.Words = []string{count(len(rest), "other rule") + " found nothing: " + strings.Join(rest, ", ") + "."}
	}
	return b
}

func overWords(f *reconcile.FindingSeen, s *model) string {
	if f.ResolvedAt.IsZero() {
		return "open for " + since(f.OpenedAt, s.Now).Text
	}
	return "resolved " + ago(f.ResolvedAt, s.Now).Text
}

func (l *life) verdictGrid() *grid {
	g := &grid{Heads: []string{"rule", "verdict", "at", "what became of it"}}
	for i := range l.Verdicts {
		v := &l.Verdicts[i]
		became := chip(calm, "observed")
		switch {
		case !v.FalsePositiveAt.IsZero():
			became = chip(bad, "false positive").below(said(v.FalsePositive).Text)
		case !v.ActedAt.IsZero():
			became = chip(well, "acted on").below(text.Time(v.ActedAt))
		case v.Enforced:
			became = chip(busy, "to be repaired")
		}
		g.Rows = append(g.Rows, row{Key: fmt.Sprint("verdict ", v.Number), Cells: []cell{ruleCell(v.Rule), said(v.Reason),
			when(exactly(v.At)), became}})
	}
	return g
}

func (l *life) probeGrid() *grid {
	g := &grid{Heads: []string{"sandbox", "outcome", "at", "took", "detail"}}
	for i := range l.Probes[:min(len(l.Probes), mostProbes)] {
		p := &l.Probes[i]
		one, many := inline(p.Detail)
		g.Rows = append(g.Rows, row{Block: many, Cells: []cell{sandboxCell(p.Provider, p.ID), probeChip(p),
			when(exactly(p.At)),
			{Text: text.Coarse(p.Took), Num: true}, {Text: one}}})
	}
	return g
}

func (l *life) historyGrid() *grid {
	g := &grid{Heads: []string{"at", "of", "what"}, Empty: "Nothing is on record."}
	for _, e := range l.Timeline[:min(len(l.Timeline), mostLines)] {
		what, _ := reconcile.CutLog(e.What) // shown once, by itself
		g.Rows = append(g.Rows, row{Cells: []cell{when(exactly(e.At)), named(e.Kind), said(what)}})
	}
	return g
}

// logBlocks are the ends of logs that were saved before something was ended.
func (l *life) logBlocks() []block {
	var out []block
	for i := range l.Actions {
		a := &l.Actions[i]
		texts := []string{a.Detail}
		for _, e := range a.Evidence {
			texts = append(texts, e.Fact)
		}
		for _, said := range texts {
			if _, log := reconcile.CutLog(said); log != "" {
				out = append(out, block{Title: "Log", Aside: "saved " + text.Time(a.ActedAt) + " by action " + text.Plain(a.ID,
					mostName),
					Log: text.Block(log, mostBlock)})
			}
		}
	}
	return slices.Clip(out)
}
