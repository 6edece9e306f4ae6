package simtest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/told"
	"github.com/sandkeeper/sandkeeper/store/memory"
)

// Options say how a history is played. The zero value ends it at the first violation and keeps
// no trace.
type Options struct {
	Trace   bool               // keep the trace for people
	Hash    bool               // keep a hash of all steps, to compare two runs
	Collect bool               // go on after a violation
	Watch   []platform.Watcher // who is told of each step besides the Platform
	Told    bool               // read what the product says of itself after every pass

	Janitor func(Views) Janitor // plays in the place of sandkeeper's processes; nil: sandkeeper
	Every   time.Duration       // between two passes of Janitor
	// Tail is how long a calm history goes on, whatever is left and without a person's help; 0:
	// until all is repaired.
	Tail time.Duration

	// Operator comes when a breaker, an incident or a freeze has held something for so long, looks at what it holds, and
	// releases what of a list is truly wrong, as Wrong says, and an incident where all of it is; 0: nobody comes.
	Operator time.Duration
	Wrong    func(subjects []string) bool

	Begun func(t *platform.Platform) // is called when the town stands, before anything happens
}

// A Janitor is what may be run in the place of sandkeeper.
type Janitor interface {
	Pass(ctx context.Context) error
}

// Views are what a janitor sees, faults included.
type Views struct {
	Tasks     reconcile.Tasks
	Providers map[string]reconcile.Provider
	Now       func() time.Time
}

// A Report is what a history came to.
type Report struct {
	Violations []history.Violation
	Steps      int
	Passes     int
	Lasted     time.Duration // virtual time
	Trace      []string
	Hash       uint64
	Coverage   map[string]int
	Err        error // the script could not be played
}

// Run plays a script in a bubble of its own. It never fails t.
func Run(t *testing.T, s *history.Script, o Options) *Report {
	t.Helper()
	var report *Report
	synctest.Test(t, func(t *testing.T) { report = play(t.Context(), s, o) })
	return report
}

// play plays a script in the bubble that it is called in.
func play(ctx context.Context, s *history.Script, o Options) *Report {
	e := &engine{script: s, o: o, start: time.Now(), ctx: ctx, cover: coverage{}, counts: map[string]int{},
		config: configs{own: map[string][][]string{}, without: map[string]string{}}, log: trace{on: o.Trace, sum: o.Hash}}
	e.gate.arrived = make(chan struct{}, 1)
	place, err := platform.New(s, e.waitInWorld)
	if err != nil {
		return &Report{Err: err}
	}
	e.stand(place, place.Ledger)
	if o.Told {
		e.reader = told.New(place.Ledger, place)
	}
	if o.Begun != nil {
		o.Begun(place)
	}
	if err := e.open(); err != nil { //nolint:contextcheck // nobody calls a world
		return &Report{Err: err}
	}
	e.play()
	return e.report()
}

// stand puts the engine into a place.
func (e *engine) stand(p place, l *memory.Ledger) {
	e.place, e.ledger = p, l
	p.Tell(e.o.Trace)
	for name := range p.Providers() {
		p.World(name).Observe(e.reached)
	}
}

// open books everything that the script tells.
func (e *engine) open() error {
	if err := e.openProcesses(); err != nil {
		return err
	}
	last := time.Duration(0)
	for _, event := range e.script.Events {
		last = max(last, event.At)
		e.at(event.At, func() { e.do(event) })
	}
	e.at(max(last, e.script.Calm), e.ending().beginCalm)
	if e.o.Operator > 0 && e.o.Janitor == nil {
		e.after(time.Minute, func() { e.operators().attend(map[string]time.Duration{}) })
	}
	return nil
}

func (e *engine) openProcesses() error {
	if e.o.Janitor != nil {
		e.comePeer()
		return nil
	}
	for i, line := range e.script.Setup {
		if line.Verb != verbProcess {
			continue
		}
		s, err := parseProcess(line.Args)
		if err != nil {
			return fmt.Errorf("line %d of the setup: %w", i+1, err)
		}
		e.come(s)
	}
	return nil
}

// comePeer lets the janitor come that plays in the place of sandkeeper.
func (e *engine) comePeer() {
	var peer *process
	var janitor Janitor
	busy := false
	var turn func()
	turn = func() {
		e.after(max(e.o.Every, time.Second), turn)
		if peer == nil || peer.dead {
			peer, busy = e.birth(kindPeer), false
			janitor = e.o.Janitor(e.views(peer))
		}
		if busy || peer.frozen > e.since() {
			return
		}
		busy = true
		p, j := peer, janitor
		e.run(p, 0, func() func() {
			err := j.Pass(p.stop)
			return func() {
				busy = false
				e.passes++
				if err != nil {
					e.log.add(e, "%s: %v", p.name, err)
				}
			}
		})
	}
	e.at(0, turn)
}

func (e *engine) views(p *process) Views {
	k := e.keeper(p, 0)
	return Views{Tasks: k.Tasks, Providers: k.Providers, Now: time.Now}
}

func (e *engine) report() *Report {
	if e.log.on {
		e.log.news(e)
	}
	if e.err == nil && e.gate.alike > 0 {
		e.err = fmt.Errorf("%d calls at the gate could not be told apart", e.gate.alike)
	}
	return &Report{Violations: e.found, Steps: e.steps, Passes: e.passes, Lasted: e.since(), Trace: e.log.lines,
		Hash: e.log.hash, Coverage: e.cover.counts(e.place.Happened()), Err: e.err}
}
