package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/web/passes"
	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"
)

// A page is the first page, the overview, with every text settled.
type page struct {
	ui.Frame

	Verdict    verdict
	Acts       []ui.Act  // what an operator may want at once, whatever is the matter
	Chips      []ui.Cell // what is part of the verdict besides: the mode, what was missed
	Configured bool      // the ledger could be read: the sections below say something
	Past       ui.Moment // when what is below was read, while the ledger cannot be read

	Strip      string // the passes as a chart
	StripSays  string
	Cards      []card
	Attention  []item
	Hold       []item
	Working    []item
	WorkWords  string // how many wait, and how many are under way
	MoreWork   string
	Providers  ui.Grid
	Templates  []templateLine
	Sleeping   []quarantineView
	MoreSleep  string
	Targets    []targetLine
	TargetsAre ui.Cell
	Ended      string // tasks by how they ended
	Window     string // what the targets are of
	Quiet      []quiet
	Timeline   ui.Grid
}

// How many of each list the page shows.
const (
	mostFindings = 30
	mostOfRule   = 5 // findings of one rule
	mostOpen     = 8
	mostGroups   = 20
)

// Page is the status page of one reading. A reading that failed makes one that says so.
func Page(r *Reading, shown Process) templ.Component { return document(viewOf(r, shown)) }

// Live is the part of the page that changes.
func Live(r *Reading, shown Process) templ.Component {
	p := viewOf(r, shown)
	p.Part = true
	return document(p)
}

// Missing is the page of addresses that are not there; up is the way to the first one.
func Missing(up string) templ.Component { return ui.NotFound(up) }

// viewOf settles the page for one reading.
func viewOf(r *Reading, shown Process) page {
	a := &Asked{Reading: r, Process: shown}
	p := page{Frame: frameOf(a, "./", "")}
	p.Every, p.Notes = everyFirst, configNotes(shown)
	defer p.named()
	if r.Err != nil {
		p.Verdict = unknown(r.Err)
		p.past(r, shown)
		return p
	}
	s := a.modelOf()
	p.Verdict, p.Configured = judge(s), !s.Fresh
	p.Notes = append(p.Notes, notesOf(s, r.Unready)...)
	if p.Configured {
		p.fill(s)
	}
	return p
}

// named gives the page the verdict's name.
func (p *page) named() {
	p.Level, p.Title = p.Verdict.Level, p.Verdict.Level.Sign()+" "+p.Verdict.Word
}

// past fills the page with what the ledger said last. The verdict above it is of now.
func (p *page) past(r *Reading, shown Process) {
	if r.Past == nil || r.Past.Fresh {
		return
	}
	s := newScene(r.Past, shown.Policy, r.Trends)
	p.Past, p.Configured, p.Installation = ui.Exactly(s.Now), true, ui.Name(s.Installation)
	p.fill(s)
}

func configNotes(shown Process) []ui.Note {
	refused := shown.ConfigError
	if refused == "" {
		return nil
	}
	return []ui.Note{{Level: ui.Warn, Text: "The changed config was refused; the previous one is still in force: " +
		ui.Sentence(ui.Line(refused))}}
}

func (p *page) fill(s *model) {
	p.Chips, p.Acts = s.chips(), s.acts()
	p.Strip, p.StripSays = passes.Strip(s.Overview), passes.Words(s.Overview)
	p.Cards = s.cards()
	p.Attention, p.Hold = s.attention(), s.hold
	p.Working, p.MoreWork = s.steps.working()
	p.WorkWords = s.steps.words()
	p.Providers = s.fleet.Grid()
	p.Templates, _ = s.templateLines()
	p.Targets, p.Ended, p.Window = s.targets(), endedWords(s.Scores.Ended), windowWords(&s.Scores)
	p.TargetsAre = ui.Chip(targetsWord(p.Targets))
	p.sleepers(s)
	p.Quiet = s.quiet(p)
	p.Timeline = s.timeline()
}

// sleepers are the sandboxes in quarantine.
func (p *page) sleepers(s *model) {
	views, n := s.steps.quarantines()
	p.Sleeping = views
	if left := n - len(views); left > 0 {
		p.MoreSleep = fmt.Sprintf("And %d more.", left)
	}
}

// notesOf are about the process and about what stops all acting.
func notesOf(s *model, unready error) []ui.Note {
	var notes []ui.Note
	if unready != nil && !s.Fresh {
		notes = append(notes, ui.Note{Level: ui.Warn, Text: "The ledger is not as this program needs it: " +
			ui.Sentence(ui.Line(unready.Error()))})
	}
	if p, paused := pausedAll(s.Overview); paused {
		notes = append(notes, ui.Note{Level: ui.Set, Text: "All acting is paused" + signed(p.Author, p.Reason) + ", " +
			ui.Until(p.Until, s.Now, "until it is resumed").Text + "."})
	}
	if s.policy.Proof.Off() && len(s.policy.Rules) > 0 && !s.rules.onlyObserves() {
		notes = append(notes, ui.Note{Level: ui.Set, Text: "Rules act unproven: the config says “proof: off”."})
	}
	return append(notes, canaryNotes(s)...)
}

// signed is who asked for something, and why.
func signed(author, reason string) string {
	out := ""
	if author != "" {
		out = " by " + ui.Name(author)
	}
	if reason != "" {
		out += " (" + ui.Line(reason) + ")"
	}
	return out
}
