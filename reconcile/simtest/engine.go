package simtest

import (
	"context"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/told"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// A place is the platform with its providers, and the truth of both. Nothing in it runs by
// itself.
type place interface {
	platform.Watcher
	Do(e history.Event) error
	Advance()
	Tasks() platform.TaskTable
	Providers() map[string]*simulated.Provider
	World(provider string) *simulated.World
	Records(provider string) bool
	WorkerExit(ref reconcile.Ref, command string) int
	Policy() reconcile.Policy
	Reconfigure(args []string) error
	Begins(process string, p reconcile.Policy)
	Shift(domain string, by time.Duration)
	Calm()
	Wrong() []string
	Needed(ref reconcile.Ref) bool
	Taken(provider string) bool
	Evils(task string, sandbox reconcile.Ref) bool
	Alone() bool
	Answers(ref reconcile.Ref) bool
	Nobodys(ref reconcile.Ref) bool
	Lonely() bool
	GoesOnUnnamed(task string) bool
	Ageless(task string, ref reconcile.Ref) bool
	HandedOn(task string, ref reconcile.Ref) bool
	Tell(on bool)
	News() []string
	Happened() map[string]int
}

// An engine plays one history. It belongs into a bubble of testing/synctest, whose root is the
// scheduler: at each moment at most one goroutine of all processes runs, the one whose turn it
// is, and what that one touches of the engine needs no lock.
type engine struct {
	script *history.Script
	o      Options
	place  place
	ledger *memory.Ledger
	reader *told.Reader // nil: nobody reads
	start  time.Time
	log    trace
	cover  coverage
	wg     sync.WaitGroup // all goroutines of processes
	ctx    context.Context

	gate gate
	turn *turn // whose turn it is

	agenda  []appointment // in the order of their times
	booked  int
	faults  []*active
	traps   []*trap
	board   board
	replica []*replica
	living  []*process // that are not over, in the order of their births
	counts  map[string]int
	config  configs
	lease   reconcile.Lease // the newest that was taken

	faultNumber int
	asked       int // actions that the operator asked for
	steps       int
	passes      int
	calm        calm
	found       []history.Violation
	over        bool
	err         error
}

// An appointment is something to be done at its time.
type appointment struct {
	at     time.Duration
	number int
	do     func()
}

// since is the time since the history began.
func (e *engine) since() time.Duration { return time.Since(e.start) }

// at books something for a time. What is booked for one time is done in the order of booking.
func (e *engine) at(at time.Duration, do func()) {
	e.booked++
	a := appointment{at: at, number: e.booked, do: do}
	i, _ := slices.BinarySearchFunc(e.agenda, a, func(x, y appointment) int {
		if x.at != y.at {
			return int(x.at - y.at)
		}
		return x.number - y.number
	})
	e.agenda = slices.Insert(e.agenda, i, a)
}

func (e *engine) after(d time.Duration, do func()) { e.at(e.since()+d, do) }

// play lets the history happen, from its first event to its end.
func (e *engine) play() {
	for {
		synctest.Wait() // before anything is read that the one whose turn it was may have written
		e.gate.begin()
		if e.over {
			break
		}
		e.turn = nil
		if e.keep() || e.daemons().dispatch() {
			continue
		}
		if t := e.gate.choose(e.since()); t != nil {
			e.turn = t
			t.grant <- struct{}{}
			continue
		}
		e.sleep()
	}
	e.end()
}

// keep keeps the next appointment that is due.
func (e *engine) keep() bool {
	if len(e.agenda) == 0 || e.agenda[0].at > e.since() {
		return false
	}
	do := e.agenda[0].do
	e.agenda = e.agenda[1:]
	e.place.Advance()
	do()
	return true
}

// sleep lets time pass until something is due or comes to the gate.
func (e *engine) sleep() {
	until := history.Longest
	if len(e.agenda) > 0 {
		until = e.agenda[0].at
	}
	until = min(until, e.gate.next(), e.board.next(e))
	timer := time.NewTimer(max(until-e.since(), 0))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.gate.arrived:
	}
}

// end lets all processes die and waits for them.
func (e *engine) end() {
	e.over = true
	for _, p := range slices.Clone(e.living) {
		e.die(p)
	}
	e.wg.Wait()
}

// violate notes what must never have happened. The first one ends the history, unless all are
// wanted.
func (e *engine) violate(found []history.Violation) {
	if len(found) == 0 {
		return
	}
	for i := range found {
		if found[i].At == 0 {
			found[i].At = e.since()
		}
		e.log.add(e, "VIOLATION of %s: %s", found[i].Property, found[i].Says)
	}
	e.found = append(e.found, found...)
	e.over = e.over || !e.o.Collect
}

// mix is a hash of numbers. Choices are made by what they are about, not by a stream, so that
// they stay when something else of the history is left out.
func mix(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h += n
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func mixText(seed uint64, text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(seed, h)
}
