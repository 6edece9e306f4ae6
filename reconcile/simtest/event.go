package simtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// The verbs of the engine. All others are the Platform's.
const (
	verbProcess  = "process"
	verbFault    = "fault"
	verbCrash    = "crash"
	verbFreeze   = "freeze"
	verbLease    = "lease"
	verbStop     = "stop"
	verbClock    = "clock"
	verbConfig   = "config"
	verbOperator = "operator"
	verbPush     = "push"
	verbNothing  = "nothing"
)

// Parse reads a script in its text form, and refuses what nobody here understands.
func Parse(name, text string) (*history.Script, error) { return history.Parse(name, text, check) }

// check reports whether an event is well formed. It needs no world: names of things that are
// not there are no error, so that an event may be left out of a history.
func check(e history.Event, setup bool) error {
	known := inEvents
	if setup {
		known = inSetup
	}
	read := known()[e.Verb]
	if read == nil {
		return platform.Check(e)
	}
	if err := read(e.Args); err != nil {
		return fmt.Errorf("%s: %w", e.Verb, err)
	}
	return nil
}

func inSetup() map[string]func([]string) error {
	return map[string]func([]string) error{
		verbProcess: func(a []string) error { _, err := parseProcess(a); return err },
	}
}

func inEvents() map[string]func([]string) error {
	return map[string]func([]string) error{
		verbFault:    func(a []string) error { _, err := parseFault(a); return err },
		verbCrash:    func(a []string) error { _, err := parseCrash(a); return err },
		verbFreeze:   func(a []string) error { _, err := parseFreeze(a); return err },
		verbLease:    func(a []string) error { _, err := parseLease(a); return err },
		verbStop:     func(a []string) error { _, err := parseStop(a); return err },
		verbClock:    func(a []string) error { _, err := parseClock(a); return err },
		verbOperator: func(a []string) error { _, err := parseOperatorRequest(a); return err },
		verbConfig:   checkConfig,
		verbPush:     nothing,
		verbNothing:  nothing,
	}
}

func nothing(args []string) error {
	if len(args) > 0 {
		return errors.New("it takes no words")
	}
	return nil
}

// words are what is left of an event's arguments while they are read.
type words struct {
	left []string
	err  error
}

// next is the next word.
func (w *words) next(what string) string {
	if len(w.left) == 0 {
		w.fail(fmt.Errorf("%s is missing", what))
		return ""
	}
	word := w.left[0]
	w.left = w.left[1:]
	return word
}

func (w *words) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// oneOf is the next word, which must be one of these.
func (w *words) oneOf(what string, of ...string) string {
	word := w.next(what)
	if w.err == nil && !slices.Contains(of, word) {
		w.fail(fmt.Errorf("%s %q is none of %s", what, word, strings.Join(of, ", ")))
	}
	return word
}

func (w *words) time(what string) time.Duration {
	word := w.next(what)
	if w.err != nil {
		return 0
	}
	d, err := history.ParseTime(word)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", what, err))
	}
	return d
}

func (w *words) number(what string, least, most int) int {
	word := w.next(what)
	if w.err != nil {
		return 0
	}
	n, err := strconv.Atoi(word)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d is not within %d and %d", n, least, most)
	}
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", what, err))
	}
	return n
}

// options reads pairs of words to the end: `for 2m count 3`.
func (w *words) options(known map[string]func(w *words, name string)) error {
	for len(w.left) > 0 && w.err == nil {
		name := w.next("an option")
		read := known[name]
		if read == nil {
			w.fail(fmt.Errorf("unknown word %q", name))
			break
		}
		read(w, name)
	}
	return w.err
}

// timeIn reads an option's duration into d.
func timeIn(d *time.Duration) func(*words, string) {
	return func(w *words, name string) { *d = w.time(name) }
}

// wordIn reads an option's word into s.
func wordIn(s *string) func(*words, string) {
	return func(w *words, name string) { *s = w.next(name) }
}

// numberIn reads an option's number into n.
func numberIn(n *int, least, most int) func(*words, string) {
	return func(w *words, name string) { *n = w.number(name, least, most) }
}

// A clockChange is what happens to the clock of a domain: it jumps, or drifts for a while.
type clockChange struct {
	domain string
	drift  bool
	by     time.Duration // at once, or every [driftEvery]
	last   time.Duration
}

const driftEvery = 10 * time.Second

func parseClock(args []string) (clockChange, error) {
	w := &words{left: args}
	c := clockChange{domain: w.next("the domain")}
	c.drift = w.oneOf("what it does", "jump", "drift") == "drift"
	by := w.next("by how much")
	if w.err != nil {
		return c, w.err
	}
	var err error
	if c.by, err = history.ParseTime(strings.TrimPrefix(by, "-")); err != nil {
		return c, fmt.Errorf("by how much: %w", err)
	}
	if strings.HasPrefix(by, "-") {
		c.by = -c.by
	}
	if !c.drift {
		return c, w.options(nil)
	}
	return c, w.options(map[string]func(*words, string){"for": timeIn(&c.last)})
}

// checkConfig checks `config [at PROCESS] rule|limits ...` and `config version [without RULES]`.
func checkConfig(args []string) error {
	_, change, err := parseConfig(args)
	if err != nil || change[0] == "version" {
		return err
	}
	return checkConfigure(change)
}

// parseConfig splits a change of the config into the process that it is for, "" for all, and
// what is changed.
func parseConfig(args []string) (at string, change []string, err error) {
	w := &words{left: args}
	if len(args) > 0 && args[0] == "at" {
		w.next("at")
		at = w.next("the process")
	}
	if len(w.left) == 0 {
		w.fail(errors.New("what is changed is missing"))
	}
	change = w.left
	if w.err == nil && change[0] == "version" {
		w.next("version")
		without := ""
		err = w.options(map[string]func(*words, string){"without": wordIn(&without)})
	}
	return at, change, errors.Join(w.err, err)
}
