package simtest

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// errDead is what a process is told that is no more. Nobody hears it.
var errDead = errors.New("the process is dead")

// A gate is where every call that leaves a process waits for its turn.
type gate struct {
	mu      sync.Mutex
	waiting []*turn
	arrived chan struct{}
	round   int // counts what the scheduler did
	alike   int // calls that nothing told apart: the order of a history would not be its own
	turns   int // that are over
}

// A query is what a process asks of whom.
type query struct {
	party, name, id string
	args            any
	writes          bool
}

// A turn is one call of a process on its way.
type turn struct {
	query
	*seat
	number  int // of the calls of its process
	pri     uint64
	ready   time.Duration // not before
	round   int           // when it came to the gate
	grant   chan struct{}
	changed bool   // a provider's world was changed by it
	struck  string // the fault that struck it
	told    error  // instead of the truth, once it has taken effect
	kicks   string // what the queue makes of a kick: "lost", "twice"
}

// A seat is a part of a process that does one thing after the other, and what it started.
type seat struct {
	e    *engine
	p    *process
	lane int
}

// wait queues the turn at the gate, to be let through not before ready.
func (t *turn) wait(ready time.Duration) error {
	g := &t.e.gate
	g.mu.Lock()
	if t.p.dead {
		g.mu.Unlock()
		return errDead
	}
	t.ready, t.round = ready, g.round
	g.waiting = append(g.waiting, t)
	g.mu.Unlock()
	select {
	case g.arrived <- struct{}{}:
	default:
	}
	<-t.grant
	if t.p.dead {
		return errDead
	}
	return nil
}

// choose is the turn that is let through next: of those that are ready, the one with the
// smallest hash of the seed and of what it is.
func (g *gate) choose(now time.Duration) *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	best := -1
	for i, t := range g.waiting {
		if max(t.ready, t.p.frozen) > now {
			continue
		}
		if best < 0 || t.before(g.waiting[best], g) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	t := g.waiting[best]
	last := len(g.waiting) - 1
	g.waiting[best] = g.waiting[last]
	g.waiting = g.waiting[:last]
	return t
}

// before puts two turns in an order that is total whatever order they came in.
func (t *turn) before(o *turn, g *gate) bool {
	c := cmp.Or(cmp.Compare(t.pri, o.pri), cmp.Compare(t.p.name, o.p.name), cmp.Compare(t.lane, o.lane),
		cmp.Compare(t.name, o.name), cmp.Compare(t.party, o.party), cmp.Compare(t.id, o.id), cmp.Compare(t.round, o.round))
	if c == 0 {
		g.alike++
	}
	return c < 0
}

// next is when the first of those who wait is ready.
func (g *gate) next() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := history.Longest
	for _, t := range g.waiting {
		first = min(first, max(t.ready, t.p.frozen))
	}
	return first
}

// release frees all of a process that is dead.
func (g *gate) release(p *process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.dead = true
	left := g.waiting[:0]
	for _, t := range g.waiting {
		if t.p == p {
			t.grant <- struct{}{}
			continue
		}
		left = append(left, t)
	}
	g.waiting = left
}

// begin begins what the scheduler does next, after all that was done in turns.
func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.round++
}

// over ends a turn: what was done in it comes before all that the next turn does, also where the
// goroutine never comes to the gate again.
func (g *gate) over() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns++
}

// ask makes one call of a process, when it is its turn.
func ask[T any](ctx context.Context, s *seat, q query, do func() (T, error)) (T, error) {
	var none T
	t, err := s.enter(ctx, q)
	if err != nil {
		return none, err
	}
	out, err := do()
	if err := t.leave(out, err); err != nil {
		return none, err
	}
	return out, nil
}

// enter waits for the call's turn. An error means that it is not made.
func (s *seat) enter(ctx context.Context, q query) (made *turn, err error) {
	t := &turn{query: q, seat: s, grant: make(chan struct{}, 1)}
	t.pri = mix(s.p.hash, mixText(uint64(s.lane), q.name), uint64(s.e.since()))
	if err := t.wait(s.e.since() + t.latency()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.e.gate.over()
		}
	}()
	s.p.calls++
	t.number = s.p.calls
	s.e.cover.add("call", q.name)
	if err := t.spring(ctx, false); err != nil {
		return nil, err
	}
	if err := reconcile.TooLate(ctx); err != nil {
		return nil, t.failed(err) // as the real ports do, right before they send
	}
	if err := t.meet(ctx); err != nil {
		return nil, err
	}
	s.e.place.Advance()
	return t, nil
}

// latency is how long the call is on its way: a few milliseconds for most, nothing for some.
// Those that timers are set by always take a time of their own, so that no two timers of a
// process end at the same moment.
func (t *turn) latency() time.Duration {
	long := time.Duration(mix(t.pri, 1) % uint64(20*time.Millisecond))
	switch t.name {
	case "TakeLease", "RenewLease", "Claim", "RenewClaim", "Terminate", "Now":
		return long + 1
	}
	if mix(t.pri, 2)%4 == 0 {
		return long
	}
	return 0
}

// spring lets a trap strike that waits for this call.
func (t *turn) spring(ctx context.Context, after bool) error {
	x := t.e.sprung(t, after)
	if x == nil {
		return nil
	}
	side := "before"
	if after {
		side = "after"
	}
	t.e.cover.add(x.what+" "+side, t.name)
	t.e.log.add(t.e, "%s %s %s", t.p.name, map[string]string{trapCrash: "is killed", trapFreeze: "stands still",
		trapLease: "loses its lease"}[x.what], side+" "+t.what())
	switch x.what {
	case trapCrash:
		t.e.crash(t.p, x.last)
		return errDead
	case trapFreeze:
		t.p.frozen = t.e.since() + x.last
		return t.wait(0)
	}
	t.e.usurp()                                //nolint:contextcheck // it is nobody's call
	return t.wait(t.e.since() + 6*time.Second) // longer than the holder takes to see it
}

// meet lets the fault happen that strikes this call before its effect, and notices when the
// caller has given up.
func (t *turn) meet(ctx context.Context) error {
	if ctx.Err() != nil && mix(t.pri, 3)%2 == 0 {
		return t.failed(context.Cause(ctx)) // else it is on its way, and takes effect all the same
	}
	a := t.e.strike(t)
	if a == nil {
		return nil
	}
	t.struck = a.label()
	t.e.cover.add("fault", t.struck)
	switch a.kind {
	case "error", "standby":
		return t.failed(a.told())
	case "hang":
		if err := t.pause(ctx, 30*time.Second); err != nil {
			return err
		}
		return t.failed(cmp.Or(context.Cause(ctx), a.told()))
	case "slow":
		return t.wait(t.e.since() + a.by)
	case "done-error":
		t.told = a.told()
	case "lost", "twice":
		t.kicks = a.kind
	}
	return nil
}

// pause lets the call wait outside of its turn, until the time is over or the caller gives up.
func (t *turn) pause(ctx context.Context, d time.Duration) error {
	t.sleep(ctx, d)
	return t.wait(0)
}

func (t *turn) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-t.p.died:
	}
}

// waitInWorld is how a provider's slow and hanging calls wait.
func (e *engine) waitInWorld(ctx context.Context, d time.Duration) error {
	t := e.turn
	if t == nil {
		return ctx.Err()
	}
	if err := t.pause(ctx, d); err != nil {
		return err
	}
	e.place.Advance()
	return ctx.Err()
}

// failed tells of a call that was not made.
func (t *turn) failed(err error) error {
	t.tell(nil, err, false)
	return err
}

// leave tells of a call that was made, and what the process is told of it.
func (t *turn) leave(answer any, err error) error {
	defer t.e.gate.over()
	effect := t.effect(answer, err)
	if err == nil {
		err = t.told
	}
	if dies := t.e.dies(t); dies {
		t.tell(answer, errDead, effect)
	} else {
		t.tell(answer, err, effect)
	}
	if t.e.over {
		return errDead
	}
	if err := t.spring(t.e.ctx, true); err != nil {
		return err
	}
	return err
}

// dies reports whether a trap kills the process before it hears of this call.
func (e *engine) dies(t *turn) bool {
	for _, x := range e.traps {
		if x.what == trapCrash && x.after && x.left == 1 && t.p.is(x.process) && (x.call == "any" || x.call == t.name) {
			return true
		}
	}
	return false
}

// effect reports whether a call changed something, whatever its process is told.
func (t *turn) effect(answer any, err error) bool {
	switch t.name {
	case "Terminate", "Suspend", "Resume", "Activate":
		return t.took(err)
	case "Write", "Restore":
		return err == nil && answer == reconcile.WriteDone
	}
	return err == nil && t.writes
}

// tell tells everybody who watches of the step.
func (t *turn) tell(answer any, err error, effect bool) {
	e := t.e
	e.steps++
	if err != nil {
		answer = nil
	}
	s := platform.Step{N: e.steps, At: e.since(), Process: t.p.name, Call: t.name, Party: t.party, ID: t.id, Args: t.args,
		Answer: answer, Err: err, Effect: effect, Struck: t.struck}
	e.cover.step(&s)
	e.log.step(e, &s)
	e.violate(e.place.Step(s))
	if e.reader != nil {
		e.violate(e.reader.Step(&s))
	}
	for _, w := range e.o.Watch {
		e.violate(w.Step(s))
	}
}
