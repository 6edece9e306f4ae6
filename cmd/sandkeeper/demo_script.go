package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// An incident is one kind of thing that breaks, as the summary names it.
type incident string

// The incidents of the story, in the order of the summary.
const (
	incidentSnapshot incident = "snapshot inactive, tasks hang in assigned"
	incidentVanished incident = "containers vanish under their tasks"
	incidentSilent   incident = "workers die inside living sandboxes"
	incidentResumed  incident = "resumed sandboxes say started and do not work"
	incidentOrphan   incident = "sandboxes that no task knows"
	incidentStopped  incident = "a stop that the provider ignores"
	incidentLeftover incident = "sandboxes left behind by finished tasks"
)

var incidents = []incident{
	incidentSnapshot, incidentVanished, incidentSilent, incidentResumed, incidentOrphan, incidentStopped,
	incidentLeftover,
}

// A scene is one thing that happens in the story.
type scene struct {
	wait int // seconds since the scene before, at least
	kind sceneKind
	told string
	act  func(context.Context) error
}

// A sceneKind says whether a scene breaks something or mends it.
type sceneKind int

const (
	broke sceneKind = iota
	mended
)

// A script plays the scenes of the story at their times.
type script struct {
	stage    *demoStage
	platform *platform
	truth    *truth
	scenes   []scene
	last     time.Time // when the last scene was played
	hurry    bool
	aged     int // victims whose incident was moved into the past
}

// longAgo is how far a story in a hurry moves its incidents into the past: further than
// any threshold of the demo's config.
const longAgo = time.Minute

func newScript(s *demoStage, p *platform, hurry bool) *script {
	c := &script{stage: s, platform: p, truth: p.truth, hurry: hurry, last: time.Now()}
	c.scenes = []scene{
		{5, broke, "the platform crashes after creating 6 sandboxes and before saving their tasks", c.orphan},
		{5, broke, "the snapshot " + demoSnapshot + " goes inactive, and 6 users ask for work", c.expireSnapshot},
		{5, broke, "4 containers vanish under their tasks", c.vanish},
		{5, broke, "5 workers die, their sandboxes live on", c.silence},
		{8, broke, "3 people stop their tasks; the provider says ok and does nothing", c.ignoreStop},
		{8, broke, "3 sandboxes are resumed and say started: exec hangs, exec answers 502, files answer 404", c.resume},
		{8, broke, "3 tasks finish, and their sandboxes are forgotten", c.forget},
		{8, mended, "somebody activates the snapshot again", c.restoreSnapshot},
		{20, broke, "Daytona's listing answers 500 from now on: nothing may be judged from it", c.breakListing},
		{15, mended, "the listing works again", c.mendListing},
		{5, broke, "the event pipeline goes down: all workers seem dead, and none is", c.silenceAll},
		{50, mended, "the event pipeline is back", c.hearAll},
	}
	return c
}

// gap is the pause between two passes.
func (c *script) gap() time.Duration {
	if c.hurry {
		return 500 * time.Millisecond
	}
	return 3 * time.Second
}

// over reports whether everything has happened.
func (c *script) over() bool { return len(c.scenes) == 0 }

// encore keeps a demo that goes on after its story from being dull: something small breaks
// each minute.
func (c *script) encore() {
	c.scenes = []scene{
		{60, broke, "the platform forgets 6 sandboxes that it just created", c.orphan},
		{60, broke, "4 more containers vanish", c.vanish},
		{60, broke, "3 more stops are ignored", c.ignoreStop},
	}
}

// lastAct is how many scenes wait until all that broke before them is repaired.
const lastAct = 4

// due reports whether the next scene's time has come.
func (c *script) due() bool {
	if c.over() {
		return false
	}
	wait := time.Duration(c.scenes[0].wait) * time.Second
	if c.hurry {
		wait = 0 // the pass between two scenes is pause enough
	}
	return time.Since(c.last) >= wait && (len(c.scenes) != lastAct || c.truth.settled())
}

// play plays the next scene when its time has come: never two without a pass between
// them. It returns what was played, nil when nothing was.
func (c *script) play(ctx context.Context) (*scene, error) {
	if !c.due() {
		return nil, nil
	}
	now := c.scenes[0]
	c.scenes, c.last = c.scenes[1:], time.Now()
	if err := now.act(ctx); err != nil {
		return nil, err
	}
	if c.hurry {
		return &now, c.age(ctx)
	}
	return &now, nil
}

// age moves the incidents since the last call into the past.
func (c *script) age(ctx context.Context) error {
	fresh := c.truth.all()[c.aged:]
	c.aged += len(fresh)
	ids := []string{}
	for _, v := range fresh {
		if v.incident == incidentResumed {
			continue // its probes are what convicts it, not its silence
		}
		if v.task != "" {
			ids = append(ids, v.task)
		}
		if v.sandbox != "" {
			c.stage.cloud.Change(v.sandbox, older)
		}
	}
	return c.stage.do(ctx, "tasks_age", pgx.StrictNamedArgs{"ids": ids, "age": longAgo})
}
