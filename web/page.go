package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A page is the status page with every text settled.
type page struct {
	Installation string // "" when the ledger does not say
	Version      string
	Doing        bool
	Up           string // the way from this page up to the first one, "" on it

	Verdict    verdict
	Notes      []note
	Configured bool // the ledger could be read: the sections below say something

	Facts          []fact
	Passes         []passLine
	PassesBy       string
	Sources        []sourceLine
	Incidents      []incidentView
	Targets        []targetLine
	Window         string // what the targets are of
	Ended          string // tasks by how they ended
	FalsePositives []falsePositiveView
	Tallies        []tallyLine
	Unwatched      string // rules that acted and that are not watched
	Quarantined    []quarantineView
	MoreSleep      string
	Findings       []findingView
	NoFinding      string          // what is said when none is shown
	Others         []otherFindings // those that are not shown, by rule
	Open           []actionView
	MoreOpen       string
	Recent         []actionView
	Held           []heldGroup
	Requests       []requestView
	Modes          []modeLine
	Resolved       []resolvedLine
	Templates      []templateLine
	Active         int // templates that need no line

	Read moment // the ledger's now
}

// A note stands above everything: something about the reading itself.
type note struct {
	Level level
	Text  string
}

// How many of each list the page shows.
const (
	mostFindings = 30
	mostOfRule   = 5 // findings of one rule
	mostOpen     = 20
	mostRecent   = 12
	mostResolved = 12
	mostPasses   = 8
	mostGroups   = 20
	mostEvidence = 20
)

// Page is the status page of one reading. A reading that failed makes one that says so.
func Page(r *Reading, shown Process) templ.Component { return document(viewOf(r, shown)) }

// Live is the part of the page that changes.
func Live(r *Reading, shown Process) templ.Component { return live(viewOf(r, shown)) }

// Missing is the page of addresses that are not there; up is the way to the first one.
func Missing(up string) templ.Component { return notFound(up) }

// viewOf settles the page for one reading.
func viewOf(r *Reading, shown Process) page {
	p := page{Version: text.Plain(shown.Version, mostName), Doing: shown.Doing}
	if refused := shown.ConfigError; refused != "" {
		p.Notes = append(p.Notes, note{warn, "The changed config was refused; the previous one is still in force: " +
			sentence(text.Plain(refused, mostLine))})
	}
	if r.Err != nil {
		p.Verdict = unknown(r.Err)
		return p
	}
	s := newScene(&r.Overview, shown.Policy)
	p.Installation, p.Read = text.Plain(s.Installation, mostName), exactly(s.Now)
	p.Verdict, p.Configured = judge(s), !s.Fresh
	p.Notes = append(p.Notes, notesOf(s, r.Unready)...)
	if p.Configured {
		p.fill(s)
	}
	return p
}

func (p *page) fill(s *model) {
	p.Facts, p.Passes, p.PassesBy = s.facts(), s.passLines(), s.passesBy()
	p.Sources = s.sourceLines()
	p.Incidents = s.incidents()
	p.Targets, p.Ended, p.Window = s.targets(), endedWords(s.Scores.Ended), windowWords(&s.Scores)
	p.FalsePositives, p.Tallies, p.Unwatched = s.falsePositives(), s.tallies(), s.unwatched()
	p.sleepers(s)
	p.Findings, p.Others = s.findings()
	p.NoFinding = "No finding is open."
	if len(s.folded) > 0 {
		p.NoFinding = "All open findings belong to the incidents above."
	}
	p.Open, p.MoreOpen = s.openActions()
	p.Recent = s.recentActions()
	p.Held, p.Requests, p.Modes = s.heldGroups(), s.requests(), s.modeLines()
	p.Resolved = s.resolvedLines()
	p.Templates, p.Active = s.templateLines()
}

// sleepers are the sandboxes in quarantine.
func (p *page) sleepers(s *model) {
	views, n := s.quarantines()
	p.Quarantined = views
	if left := n - len(views); left > 0 {
		p.MoreSleep = fmt.Sprintf("And %d more.", left)
	}
}

// notesOf are about the process and about what stops all acting.
func notesOf(s *model, unready error) []note {
	var notes []note
	if unready != nil && !s.Fresh {
		notes = append(notes, note{warn, "The ledger is not as this program needs it: " +
			sentence(text.Plain(unready.Error(), mostLine))})
	}
	for _, p := range s.Controls.Pauses {
		if p.Scope == "all" {
			notes = append(notes, note{warn, "All acting is paused" + signed(p.Author, p.Reason) + ", " +
				until(p.Until, s.Now, "until it is resumed").Text + "."})
		}
	}
	return notes
}

// signed is who asked for something, and why.
func signed(author, reason string) string {
	out := ""
	if author != "" {
		out = " by " + text.Plain(author, mostName)
	}
	if reason != "" {
		out += " (" + text.Plain(reason, mostLine) + ")"
	}
	return out
}

// title is what the browser's tab says.
func (p *page) title() string {
	name := "sandkeeper"
	if p.Installation != "" {
		name = p.Installation + " · sandkeeper"
	}
	return p.Verdict.Level.Sign() + " " + p.Verdict.Word + " · " + name
}

// A fact is one figure at the top.
type fact struct {
	Name  string
	Value string
	Exact moment // its Exact and ISO are of the value, when that is a time
	Sub   string
}

func (s *model) facts() []fact {
	facts := []fact{
		s.passFact("Last pass", s.LastPass, "any pass, completed"),
		s.passFact("Last full pass", s.LastFull, "completed"),
		{Name: "Open findings", Value: fmt.Sprint(total(s.FindingsOpen)), Sub: s.dueWords()},
		{Name: "Repair steps", Value: fmt.Sprint(s.awake()), Sub: s.stepsSub()},
	}
	if n, ok := liveTasks(s.Counts); ok {
		facts = append(facts, fact{Name: "Live tasks", Value: fmt.Sprint(n), Sub: taskWords(s.Counts)})
	}
	return append(facts, s.sandboxFacts()...)
}

// sandboxFacts are of the listings that are trusted: another would show fewer sandboxes than
// there are.
func (s *model) sandboxFacts() []fact {
	var facts []fact
	n, listed := ownedSandboxes(s.Counts)
	words, value := sandboxWords(s.Counts), fmt.Sprint(n)
	for _, provider := range unlisted(s.Sources) {
		words = append(words, text.Plain(provider, mostName)+": its listing is not trusted")
	}
	if !listed {
		value = "not known"
	}
	if len(words) > 0 {
		facts = append(facts, fact{Name: "Sandboxes", Value: value, Sub: text.Plain(strings.Join(words, "; "), mostLine)})
	}
	if others, _ := sum(s.Counts, reconcile.CountForeign); others > 0 {
		facts = append(facts, fact{Name: "Sandboxes of others", Value: fmt.Sprint(others), Sub: "never touched"})
	}
	return facts
}

func (s *model) passFact(name string, at time.Time, sub string) fact {
	m := ago(at, s.Now)
	return fact{Name: name, Value: m.Text, Exact: m, Sub: sub}
}

func (s *model) dueWords() string {
	due, heldOnes := 0, 0
	for i := range s.Findings {
		if s.Findings[i].Due {
			due++
		}
		if s.stateOf(&s.Findings[i]) == heldBack {
			heldOnes++
		}
	}
	if len(s.Findings) == 0 {
		return ""
	}
	return fmt.Sprintf("%d due, %d held", due, heldOnes)
}
