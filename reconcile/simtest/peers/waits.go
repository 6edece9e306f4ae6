package peers

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// Waits are, for each thing that was wrong, what sandkeeper waited for.
type Waits map[*platform.Wrong]*Wait

// A Wait is what sandkeeper said of one thing that was wrong, pass after pass.
type Wait struct {
	Last  string                   // what it said in the last pass
	Spent map[string]time.Duration // how long it said what
	at    time.Duration            // when that pass ended
}

// note takes down what a pass says of a thing that is wrong. One that failed says nothing.
func (w Waits) note(of *platform.Wrong, now time.Duration, r *run.Result) {
	wait := w[of]
	if wait == nil {
		wait = &Wait{Spent: map[string]time.Duration{}, at: of.Since, Last: "no pass saw it yet"}
		w[of] = wait
	}
	said := "the pass failed"
	if r != nil {
		said = says(r, of)
	}
	if said == unseen && r.Kind == reconcile.Quick {
		said = wait.Last // it looks at suspects alone
	}
	if of.Deed < 0 {
		wait.Spent[said] += now - wait.at
	}
	wait.Last, wait.at = said, now
}

// Longest is what took most of the time, of several that took as long the first by name.
func (w *Wait) Longest() string {
	var most string
	for _, said := range reconcile.SortedKeys(w.Spent) {
		if most == "" || w.Spent[said] > w.Spent[most] {
			most = said
		}
	}
	return most
}

// says is what a pass says of a thing that is wrong: what is done about it, what holds that, or why nothing is found.
func says(r *run.Result, of *platform.Wrong) string {
	about := func(subject, provider, sandbox string) bool {
		task, isTask := strings.CutPrefix(of.Subject, "task ")
		if isTask {
			return subject == "task:"+task
		}
		return of.Subject == "sandbox "+reconcile.Ref{Provider: provider, ID: sandbox}.String()
	}
	held := ""
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		if !about(s.Subject, s.Provider, s.Sandbox) {
			continue
		}
		if len(s.HeldBy) == 0 {
			return s.Rule + ": being done"
		}
		held = s.Rule + ": held, " + heldWords(s.HeldBy[0])
	}
	if held != "" {
		return held
	}
	for i := range r.Plan.Findings {
		f := &r.Plan.Findings[i]
		if !about(f.Subject, f.Provider, f.Sandbox) {
			continue
		}
		switch {
		case len(f.HeldBy) > 0:
			held = f.Rule + ": held, " + heldWords(f.HeldBy[0])
		case !f.Due:
			return f.Rule + ": waits for another look"
		case held == "":
			held = f.Rule + ": found, and reported"
		}
	}
	if held != "" {
		return held
	}
	return judged(r, of)
}

// judged is what a pass that found nothing says.
func judged(r *run.Result, of *platform.Wrong) string {
	if r.Judged == nil {
		return "not judged"
	}
	for i := range r.Judged.Decisions {
		d := &r.Judged.Decisions[i]
		if task, isTask := strings.CutPrefix(of.Subject, "task "); isTask && d.Subject.ID != "task:"+task {
			continue
		} else if !isTask {
			there := false
			for k := range d.Subject.Boxes {
				there = there || of.Subject == "sandbox "+d.Subject.Boxes[k].Ref.String()
			}
			if !there {
				continue
			}
		}
		if d.Kept != "" {
			return d.KeptBy + ": " + varies.ReplaceAllString(d.Kept, "N")
		}
		return "nothing is found"
	}
	return unseen
}

const unseen = "no pass sees it"

func heldWords(h reconcile.Held) string {
	if h.Kind == reconcile.HeldFreeze {
		return h.Label() + " frozen"
	}
	return h.Label() + " " + varies.ReplaceAllString(h.What+" "+h.Reason, "N")
}

var varies = regexp.MustCompile(`[-a-z]*[0-9][-:a-zA-Z0-9.]*`)

// few is how many have to be late for one reason to be told.
const few = 5

// Whys are, for each reason, how much a janitor missed for it, and how much was dealt with later than a minute after it
// went wrong and waited for that most of the time. The hours are those that all of it lasted.
func Whys(janitor string, outcomes []Outcome) string {
	type tally struct {
		missed, late int
		lost         time.Duration
	}
	found := map[string]*tally{}
	at := func(kind, cause, why string) *tally {
		key := kind + ": " + cause + " | " + why
		if found[key] == nil {
			found[key] = &tally{}
		}
		return found[key]
	}
	for _, o := range outcomes {
		for _, w := range o.Wrongs {
			wait := o.Waits[w]
			if wait == nil || o.Janitor != janitor {
				continue
			}
			switch {
			case w.Lasts:
				t := at(w.Kind, w.Cause, wait.Last)
				t.missed++
				t.lost += w.Until - w.Since
			case w.Deed >= 0 && w.Deed-w.Since > time.Minute:
				t := at(w.Kind, w.Cause, wait.Longest())
				t.late++
				t.lost += w.Deed - w.Since
			}
		}
	}
	var b strings.Builder
	b.WriteString("| what was wrong | what sandkeeper said of it | missed | later than a minute | hours |\n")
	b.WriteString("|---|---|--:|--:|--:|\n")
	for _, key := range reconcile.SortedKeys(found) {
		t := found[key]
		if t.missed == 0 && t.late < few {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f |\n", key, t.missed, t.late, t.lost.Hours())
	}
	return b.String()
}
