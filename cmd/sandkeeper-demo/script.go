package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// A scene is one thing that happens in the story.
type scene struct {
	at    time.Duration // since the story began
	part  string        // of the story, by which --scene names it; "" for what is always played
	kind  sceneKind
	title string // what happens, as it is announced, told, and listed in the time-table
	watch string // what to look at; "" for a scene that is not announced
	act   func(context.Context) error
	until func(*reconcile.Overview) bool // what the scene waits for besides its time; nil for nothing
	shown time.Duration                  // how long at least what it waits for is there to be seen
}

// A sceneKind says what a scene does.
type sceneKind int

const (
	broke  sceneKind = iota // something breaks
	fixed                   // something is put right
	person                  // an operator does something
)

// A script plays the scenes of the story at their times.
type script struct {
	stage    *demoStage
	platform *platform
	truth    *truth
	ledger   *ledger.Ledger // what sandkeeper says; only read
	tell     *teller
	hurry    bool
	longest  time.Duration // the story may take; what its operator asks for is for so long

	scenes  []scene
	zero    time.Time // when the story began, as far as the next scene is concerned
	played  time.Time // when the last scene was played
	said    bool      // the next scene was announced
	stood   time.Time // since when what the next scene waits for is there
	waited  time.Time // when it was last told that the next scene waits, and for what
	aged    int       // victims whose incident was moved into the past
	held    string    // the task that the operator holds
	wanted  string    // the sandbox that the operator wants back
	replica *daemon
	killed  time.Time // when the replica was killed
	lift    func()    // ends a provider's present fault
	portion time.Time // when the last portion of ignored stops came

	meanwhile func(context.Context, *reconcile.Overview) error // what goes on between two scenes, nil for nothing
}

// notice is how long before a scene it is announced, and patience how long one that has to
// wait for something waits before that is told.
const (
	notice  = 10 * time.Second
	timeout = 40 * time.Second
)

// lookAtIt is how long what is over in a moment stays, so that somebody can look at it.
const lookAtIt = 30 * time.Second

// longAgo is how far a story in a hurry moves its incidents into the past: further than
// any threshold of the demo's config.
const longAgo = time.Minute

// begin starts the clock of the story.
func (c *script) begin() { c.zero = time.Now() }

// over reports whether everything has happened.
func (c *script) over() bool { return len(c.scenes) == 0 }

// encore keeps a demo that goes on after its story from being dull: something small breaks
// each minute. It is never in a hurry, and each scene waits until what broke before is
// repaired: what piles up would open a breaker that nobody is there to release.
func (c *script) encore() {
	c.hurry = false
	c.scenes = c.small()
	for i := range c.scenes {
		c.scenes[i].until = c.waits().calm
	}
	c.begin()
}

// turn announces the next scene and plays it when its time has come.
func (c *script) turn(ctx context.Context, o *reconcile.Overview) error {
	if c.hurry {
		if err := c.age(ctx); err != nil {
			return err
		}
	}
	if c.meanwhile != nil {
		if err := c.meanwhile(ctx, o); err != nil {
			return err
		}
	}
	if c.over() {
		return nil
	}
	next := &c.scenes[0]
	left, ready := c.left(next), c.ready(next, o)
	if left <= notice && !c.said {
		c.said = true
		c.tell.hear(o, c.truth) // first what came of the scenes before
		c.tell.soon(next, left)
	}
	if left > 0 {
		return nil
	}
	if !ready {
		c.waiting(next, o)
		return nil
	}
	c.tell.hear(o, c.truth)
	return c.play(ctx)
}

// left is how long it is until a scene. In a hurry every scene comes at once.
func (c *script) left(s *scene) time.Duration {
	if c.hurry {
		return 0
	}
	return time.Until(c.zero.Add(s.at))
}

// ready reports whether the next scene may be played: what it waits for has come and could be
// seen, and, in a hurry, a full pass has seen the scene before.
func (c *script) ready(s *scene, o *reconcile.Overview) bool {
	if c.hurry && !c.seen(o) {
		return false
	}
	if s.until != nil && !s.until(o) {
		c.stood = time.Time{}
		return false
	}
	if c.stood.IsZero() {
		c.stood = time.Now()
	}
	return c.hurry || time.Since(c.stood) >= s.shown
}

func (c *script) seen(o *reconcile.Overview) bool {
	for i := range o.Passes {
		if p := &o.Passes[i]; p.Kind == reconcile.Full && !p.EndedAt.IsZero() && p.BeganAt.After(c.played) {
			return true
		}
	}
	return false
}

// waiting says now and then that the story waits, and for what: somebody may have paused sandkeeper.
func (c *script) waiting(s *scene, o *reconcile.Overview) {
	since := time.Since(c.zero.Add(s.at))
	if c.hurry || since < timeout || time.Since(c.waited) < timeout {
		return
	}
	c.waited = time.Now()
	c.tell.note("the story has waited %s for %s, and goes on then", text.Duration(since.Round(time.Second)),
		c.waits().lacking(o))
}

// play plays the next scene. One that came late moves all that follow.
func (c *script) play(ctx context.Context) error {
	now := c.scenes[0]
	c.scenes, c.played, c.said = c.scenes[1:], time.Now(), false
	c.stood, c.waited = time.Time{}, time.Time{}
	c.zero = c.played.Add(-now.at)
	c.tell.scene(&now)
	return now.act(ctx)
}

// close ends what the script has started.
func (c *script) close() {
	if c.replica != nil {
		c.replica.kill()
	}
}

// age moves the incidents since the last call into the past.
func (c *script) age(ctx context.Context) error {
	fresh := c.truth.all()[c.aged:]
	c.aged += len(fresh)
	ids := []string{}
	for _, v := range fresh {
		if v.incident == incidentMoved {
			continue // its probes are what convicts it, not its silence
		}
		if v.task != "" {
			ids = append(ids, v.task)
		}
		if v.sandbox != "" {
			c.stage.change(v.sandbox, older)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return c.stage.do(ctx, "tasks_age", pgx.StrictNamedArgs{"ids": ids, "age": longAgo})
}
