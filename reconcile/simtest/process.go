package simtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// A process is one run of the program, from its start to its death.
type process struct {
	name   string
	hash   uint64
	born   int // how many there were of this name before
	calls  int
	dead   bool          // under the gate's lock
	frozen time.Duration // it stands still until then

	stop     context.Context // ends when it is asked to stop
	halt     context.CancelFunc
	work     context.Context // ends when it is dead
	kill     context.CancelFunc
	died     chan struct{}
	policy   reconcile.Policy
	sieved   int // see [schedule], as small
	small    int
	standing *run.Standing       // with sieved: what its quick passes keep of rows
	recalled *reconcile.Recalled // and what it has recalled
	seen     *run.Small          // what its last full pass found of that
	// without are the rules that the process's version does not know.
	without map[string]bool
	back    func(after time.Duration) // lets the next one of its kind come; nil when the schedule does
}

// A schedule is a line of the setup: when processes of a kind come.
type schedule struct {
	name         string // "once", "look", or a replica's
	every, first time.Duration
	wait         time.Duration // of once
	quick, full  time.Duration // of a replica
	lanes        int
	sieved       int // from how many remembered tasks on quick passes keep only rows that are not plain
	small        int // calls that a listing may take for quick passes to list as well; 0: never
}

const (
	kindOnce = "once"
	kindLook = "look"
	kindPeer = "peer"
)

func parseProcess(args []string) (schedule, error) {
	w := &words{left: args}
	s := schedule{name: w.next("the name"), wait: 30 * time.Second, lanes: 2}
	known := map[string]func(*words, string){"first": timeIn(&s.first)}
	switch {
	case s.name == kindOnce:
		known["every"], known["wait"] = timeIn(&s.every), timeIn(&s.wait)
	case s.name == kindLook:
		known["every"] = timeIn(&s.every)
	case strings.HasPrefix(s.name, "replica-"):
		known["quick"], known["full"], known["lanes"] = timeIn(&s.quick), timeIn(&s.full), numberIn(&s.lanes, 1, 8)
		known["sieved"], known["small"] = numberIn(&s.sieved, 1, 1000), numberIn(&s.small, 1, 1000)
	default:
		w.fail(fmt.Errorf("a process is once, look or replica-N, not %q", s.name))
	}
	err := w.options(known)
	gap := max(s.every, min(s.quick, s.full))
	if err == nil && gap < time.Second {
		err = errors.New("how often is missing, or below 1s")
	}
	return s, err
}

// come books the processes of a schedule.
func (e *engine) come(s schedule) {
	if strings.HasPrefix(s.name, "replica-") {
		e.at(s.first, func() { e.daemons().startReplica(s) })
		return
	}
	var turn func()
	turn = func() {
		e.after(s.every, turn)
		e.single(s)
	}
	e.at(s.first, turn)
}

// single starts a process that does one thing and ends.
func (e *engine) single(s schedule) {
	p := e.birth(s.name)
	k := e.keeper(p, 0)
	e.run(p, 0, func() func() {
		var r *run.Result
		var err error
		if s.name == kindLook {
			r, err = k.Plan(p.stop, reconcile.Full)
		} else {
			r, err = k.Once(p.stop, reconcile.Full, s.wait)
		}
		return func() {
			e.passed(p, r, err)
			e.bury(p)
		}
	})
}

// birth makes a process. Singles are numbered: once-1, once-2.
func (e *engine) birth(kind string) *process {
	e.counts[kind]++
	p := &process{name: kind, born: e.counts[kind] - 1, died: make(chan struct{}), seen: new(run.Small),
		recalled: &reconcile.Recalled{}, standing: new(run.Standing)}
	if !strings.HasPrefix(kind, "replica-") {
		p.name = fmt.Sprintf("%s-%d", kind, e.counts[kind])
	}
	p.hash = mix(mixText(e.script.Seed, p.name), uint64(p.born))
	p.work, p.kill = context.WithCancel(e.ctx)
	p.stop, p.halt = context.WithCancel(p.work)
	e.configure(p)
	e.living = append(e.living, p)
	return p
}

// run lets a process do something in a goroutine of its own, and what follows in a turn.
func (e *engine) run(p *process, worker int, do func() (then func())) {
	e.wg.Go(func() {
		then := do()
		s := &seat{e, p, worker}
		t := &turn{query: query{party: "engine", name: "end", id: p.name}, seat: s, grant: make(chan struct{}, 1)}
		t.pri = mix(p.hash, mixText(uint64(worker), "end"), uint64(e.since()))
		if t.wait(e.since()) == nil {
			then()
			e.gate.over()
		}
	})
}

// passed tells of a pass that a process ended.
func (e *engine) passed(p *process, r *run.Result, err error) {
	if r == nil && err == nil {
		return // there was nothing to do
	}
	e.passes++
	e.cover.pass(r, err)
	e.log.pass(e, p, r, err)
	e.violate(e.place.Pass(p.name, r, err))
	for _, w := range e.o.Watch {
		e.violate(w.Pass(p.name, r, err))
	}
	if e.reader != nil && err == nil {
		e.violate(e.reader.Pass(e.since(), &p.policy, r))
	}
	e.ending().judgeCalm(p, r, err)
}

// bury forgets a process that has ended by itself.
func (e *engine) bury(p *process) {
	p.kill()
	e.living = slices.DeleteFunc(e.living, func(o *process) bool { return o == p })
}

// die kills a process: nothing of it is heard of again.
func (e *engine) die(p *process) {
	e.bury(p)
	e.gate.release(p)
	close(p.died)
}

// crash kills a process, and lets the next one come after a while.
func (e *engine) crash(p *process, last time.Duration) {
	if p.back != nil {
		p.back(last)
	}
	e.die(p)
}

// terminateProcess is a SIGTERM, and a SIGKILL for who does not end in time.
func (e *engine) terminateProcess(h halt) {
	for _, p := range slices.Clone(e.living) {
		if !p.is(h.process) {
			continue
		}
		e.log.add(e, "%s is asked to stop", p.name)
		p.halt()
		e.after(30*time.Second, func() {
			if slices.Contains(e.living, p) {
				e.crash(p, h.last)
			}
		})
	}
}

// holder names the process to people, each of its lives anew.
func (p *process) holder() string { return fmt.Sprintf("%s.%d", p.name, p.born) }
