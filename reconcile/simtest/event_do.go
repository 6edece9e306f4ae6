package simtest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// do carries out one event of the script.
func (e *engine) do(event history.Event) {
	e.log.add(e, "%s", event.Text())
	if err := e.carry(event); err != nil {
		e.err, e.over = err, true
	}
}

func (e *engine) carry(event history.Event) error {
	switch event.Verb {
	case verbFault:
		f, err := parseFault(event.Args)
		e.addFault(f)
		return err
	case verbCrash:
		return e.setTrap(parseCrash(event.Args))
	case verbFreeze:
		return e.setTrap(parseFreeze(event.Args))
	case verbLease:
		return e.setTrap(parseLease(event.Args))
	case verbStop:
		h, err := parseStop(event.Args)
		e.terminateProcess(h)
		return err
	case verbClock:
		c, err := parseClock(event.Args)
		e.shift(c)
		return err
	case verbConfig:
		return e.reconfigure(event.Args)
	case verbOperator:
		w, err := parseOperatorRequest(event.Args)
		e.operators().wish(w)
		return err
	case verbPush:
		e.daemons().pushed()
		return nil
	case verbNothing:
		return nil
	}
	return e.place.Do(event)
}

func (e *engine) setTrap(t trap, err error) error {
	e.traps = append(e.traps, &t)
	return err
}

// shift lets a clock jump, or drift for a while.
func (e *engine) shift(c clockChange) {
	e.place.Shift(c.domain, c.by)
	what := "jump ahead"
	if c.by < 0 {
		what = "jump back"
	}
	if c.drift {
		what = "drift"
	}
	e.cover.add("clock", c.domain+" "+what)
	if c.drift && c.last > driftEvery {
		c.last -= driftEvery
		e.after(driftEvery, func() {
			if !e.calm.on {
				e.shift(c)
			}
		})
	}
}

// usurp gives the pass lease to somebody else for a moment, as if its holder had been declared
// dead.
func (e *engine) usurp() {
	ctx := e.ctx
	_ = e.ledger.DropLease(ctx, e.lease) // none is held yet, or any more
	l, err := e.ledger.TakeLease(ctx, "usurper", 20*time.Second)
	if err != nil {
		return
	}
	e.notice("usurper", "TakeLease", l)
	e.after(10*time.Second, func() { _ = e.ledger.DropLease(ctx, l) }) // else it was taken over
}

// notice tells the watchers of what did not come through the gate.
func (e *engine) notice(name, call string, args any) {
	p := &process{name: name}
	t := &turn{query: query{party: partyLedger, name: call, args: args, writes: true}, seat: &seat{e, p, 0}}
	t.tell(nil, nil, true)
}
