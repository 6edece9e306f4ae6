package simtest

import (
	"errors"
	"strings"
	"time"
)

// What happens to a process at a trap.
const (
	trapCrash  = "crash"
	trapFreeze = "freeze"
	trapLease  = "lease"
)

// A trap waits for the n-th call of a kind that a process makes from now on.
type trap struct {
	what    string
	process string // "replica-1", "once", "look" or "any"
	call    string // a method's name, or "any"
	left    int
	after   bool // when the call has taken effect, before its answer arrives
	last    time.Duration
}

func parseTrap(what string, w *words) trap {
	t := trap{what: what, process: w.next("the process"), call: w.next("the call")}
	t.left = w.number("which call", 1, 100_000)
	return t
}

func (t *trap) side(w *words) { t.after = w.oneOf("the side", "before", "after") == "after" }

func parseCrash(args []string) (trap, error) {
	w := &words{left: args}
	t := parseTrap(trapCrash, w)
	t.side(w)
	return t, w.options(map[string]func(*words, string){"for": timeIn(&t.last)})
}

func parseFreeze(args []string) (trap, error) {
	w := &words{left: args}
	t := parseTrap(trapFreeze, w)
	t.side(w)
	err := w.options(map[string]func(*words, string){"for": timeIn(&t.last)})
	if err == nil && t.last == 0 {
		err = errors.New("for how long is missing: `for 3m`")
	}
	return t, err
}

func parseLease(args []string) (trap, error) {
	w := &words{left: args}
	t := parseTrap(trapLease, w)
	return t, w.options(nil)
}

// A halt is a SIGTERM.
type halt struct {
	process string
	last    time.Duration
}

func parseStop(args []string) (halt, error) {
	w := &words{left: args}
	h := halt{process: w.next("the process")}
	return h, w.options(map[string]func(*words, string){"for": timeIn(&h.last)})
}

// is reports whether a word of the script means this process.
func (p *process) is(word string) bool {
	return word == "any" || word == p.name || strings.HasPrefix(p.name, word+"-")
}

// sprung is the trap that this call springs on that side of its effect; nil when none does.
func (e *engine) sprung(t *turn, after bool) *trap {
	for i, x := range e.traps {
		if x.after != after || !t.p.is(x.process) || x.call != "any" && x.call != t.name {
			continue
		}
		if x.left--; x.left > 0 {
			continue
		}
		e.traps = append(e.traps[:i:i], e.traps[i+1:]...)
		return x
	}
	return nil
}
