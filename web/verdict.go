package web

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A level says how bad a verdict is. It is a colour, and beside it a sign and a word, for
// those who do not see the colour.
type level string

// The levels, the worst first.
const (
	bad  level = "bad"  // nothing is being kept in agreement, or nobody knows
	warn level = "warn" // something waits for a person
	busy level = "busy" // something is being done
	well level = "well"
	calm level = "calm" // of a line: it is there, and it is nothing
)

// A verdict is the whole page in one sentence.
type verdict struct {
	Level    level
	Word     string // "Not running"
	Sentence string
	Next     string // what the reader should do or look at; "" for nothing
	Command  string // that does it; "" for none
}

// Sign is the level for those who do not see colours.
func (l level) Sign() string {
	return map[level]string{bad: "✕", warn: "!", busy: "→", well: "✓", calm: "·"}[l]
}

// judge says how things stand: the worst that is true.
func judge(s *scene) verdict {
	for _, look := range []func(*scene) (verdict, bool){
		noSchema, neverRan, stale, incomplete, // nothing is kept, or not all
		frozen, tripped, personal, waiting, unconfirmed, // a person is asked for
		repairing, watching,
	} {
		if v, ok := look(s); ok {
			return v
		}
	}
	return verdict{Level: well, Word: "In agreement", Sentence: agreement(s.Overview) + " " + lastFullPass(s.Overview)}
}

// unknown is the verdict while the ledger cannot be read.
func unknown(err error) verdict {
	return verdict{
		Level: bad, Word: "Not known",
		Sentence: "The ledger does not answer, so how tasks and sandboxes are is not known: " +
			sentence(line(err.Error(), mostHead)),
		Next:    "See whether PostgreSQL runs and can be reached from here, and what check says of it:",
		Command: "sandkeeper check",
	}
}

// agreement says what agrees with what, as far as it was counted.
func agreement(o *reconcile.Overview) string {
	tasks, counted := liveTasks(o.Counts)
	boxes, listed := ownedSandboxes(o.Counts)
	switch {
	case counted && listed:
		return fmt.Sprintf("All %s and %s agree.", count(tasks, "live task"), count(boxes, "sandbox"))
	case listed:
		return fmt.Sprintf("All %s are as they should be.", count(boxes, "sandbox"))
	case counted:
		return fmt.Sprintf("All %s are as they should be.", count(tasks, "live task"))
	}
	return "Nothing is amiss."
}

func lastFullPass(o *reconcile.Overview) string {
	if o.LastFull.IsZero() {
		return "The first full pass is still to come."
	}
	return fmt.Sprintf("Last full pass %s.", ago(o.LastFull, o.Now).Text)
}

// capital begins a sentence.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}
