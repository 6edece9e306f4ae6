package web

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/fleet"
)

// A verdict is the whole page in one sentence.
type verdict struct {
	Level    ui.Level
	Word     string // "Not running"
	Sentence string
	Next     string  // what the reader should do or look at; "" for nothing
	Command  string  // that does it; "" for none
	Link     ui.Link // where that is
}

// judge says how things stand: the worst that is true.
//
// First comes what makes the rest of the page untrue: no ledger, no passes, half a pass. Then a rule that lowered
// itself, because it has taken healthy work for dead: that is harm. Then incidents, and what needs an operator. Then
// what is on hold, which is safe, the widest first: a source freezes all that rests on it, a breaker a whole rule. At
// last what goes on by itself.
func judge(s *model) verdict {
	for _, look := range []func(*model) (verdict, bool){
		noSchema, neverRan, stale, incomplete, // nothing is kept, or not all
		demoted, failing, personal, unconfirmed, // healthy work was harmed, or an operator must act
		ceased, frozen, tripped, waiting, standing, unmapped, // on hold
		repairing, settling, quieted, resting, unseen, watching,
	} {
		if v, ok := look(s); ok {
			v = s.tempered(v)
			v.Sentence = shortIDs(v.Sentence)
			return v
		}
	}
	word := "In agreement"
	if _, wide := surplus(s); wide {
		word = "Nothing due"
	}
	return s.tempered(verdict{Level: ui.Well, Word: word,
		Sentence: agreement(s) + " " + lastFullPass(s.Overview) + s.missedWords()})
}

// surplus is how many sandboxes there are more than tasks, and whether they are so many that a breaker would open on
// them: a script in a loop begins so, and must not look like agreement.
func surplus(s *model) (more int, wide bool) {
	tasks, counted := fleet.Live(s.Counts)
	boxes, listed := fleet.Owned(s.Counts)
	if !counted || !listed || boxes <= tasks {
		return 0, false
	}
	more = boxes - tasks
	return more, more > 10 && float64(more) > s.policy.Limits.Breaker*float64(boxes)
}

// unknown is the verdict while the ledger cannot be read.
func unknown(err error) verdict {
	return verdict{
		Level: ui.Bad, Word: "Not known",
		Sentence: "The ledger does not answer, so the state of tasks and sandboxes is unknown: " +
			ui.Sentence(text.Plain(unasked(err), mostHead)),
		Next:    "Make sure that PostgreSQL runs and can be reached from here, then run:",
		Command: "sandkeeper check",
	}
}

// unasked is why the ledger could not be read, without what was asked of it: that is the first
// of all questions, and none of the reader's.
func unasked(err error) string {
	text := err.Error()
	if at := strings.Index(text, "reach the ledger database"); at > 0 {
		return text[at:]
	}
	return text
}

// agreement says what agrees with what, as far as it was counted.
func agreement(s *model) string {
	tasks, counted := fleet.Live(s.Counts)
	boxes, listed := fleet.Owned(s.Counts)
	switch {
	case counted && listed && tasks == 1 && boxes == 1:
		return "The live task and its sandbox agree."
	case counted && listed:
		if more, _ := surplus(s); more > 0 {
			return fmt.Sprintf("%s and %s: %s more than tasks, none due.", ui.Count(tasks, "live task"),
				ui.Count(boxes, "sandbox"), ui.Count(more, "sandbox"))
		}
		return fmt.Sprintf("All %s and %s agree.", ui.Count(tasks, "live task"), ui.Count(boxes, "sandbox"))
	case s.policy.Tasks.None && listed:
		return fmt.Sprintf("%s %s there and not broken. Without a task table sandkeeper cannot know which are needed.",
			ui.Count(boxes, "sandbox"), ui.Verb(boxes, "is", "are"))
	case listed:
		return allWell(boxes, "sandbox")
	case counted:
		return allWell(tasks, "live task")
	}
	return "Nothing is amiss."
}

func allWell(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("The only %s is as it should be.", noun)
	}
	return fmt.Sprintf("All %s are as they should be.", ui.Count(n, noun))
}

func lastFullPass(o *reconcile.Overview) string {
	if o.LastFull.IsZero() {
		return "The first full pass is still to come."
	}
	return fmt.Sprintf("Last full pass %s.", ui.Ago(o.LastFull, o.Now).Text)
}

// fullID is an id of a kind that nobody reads to its end.
var fullID = regexp.MustCompile(`\b([0-9a-fA-F]{8})-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)

// shortIDs keeps the beginning of each full id: the sentence at the top is read from afar,
// and the whole id is below.
func shortIDs(text string) string { return fullID.ReplaceAllString(text, "$1…") }

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
