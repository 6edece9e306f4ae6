package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// older makes a sandbox look as if it had been as it is for long.
func older(s *simulated.Sandbox) {
	s.CreatedAt = s.CreatedAt.Add(-longAgo)
	s.UpdatedAt = s.UpdatedAt.Add(-longAgo)
	s.LastActivityAt = s.LastActivityAt.Add(-longAgo)
}

// expireSnapshot: Daytona deactivates a snapshot that nobody used for long. Every start
// from it is refused from now on.
func (c *script) expireSnapshot(ctx context.Context) error {
	t, err := c.stage.cloud.TemplateOf(demoSnapshot)
	if err != nil {
		return err
	}
	t.State = reconcile.TemplateInactive
	c.stage.cloud.PutTemplate(t)
	return c.platform.request(ctx, 10)
}

func (c *script) restoreSnapshot(ctx context.Context) error {
	t, err := c.stage.cloud.TemplateOf(demoSnapshot)
	if err != nil {
		return err
	}
	return c.platform.cloud.activate(ctx, t.ID)
}

// vanish: the runner lost the containers, and the provider its records of them.
func (c *script) vanish(context.Context) error {
	for _, j := range c.platform.take(4) {
		c.truth.add(victim{incident: incidentVanished, task: j.task})
		c.truth.leave(j.sandbox)
		c.stage.cloud.Change(j.sandbox, func(s *simulated.Sandbox) {
			s.Gone, s.State = true, reconcile.SandboxEnded
		})
	}
	return nil
}

// silence: the workers' processes end, their sandboxes know nothing of it. Somebody looks
// into one of them, and wants it left as it is.
func (c *script) silence(ctx context.Context) error {
	taken := c.platform.take(4)
	if err := c.hold(ctx, taken[0].task); err != nil {
		return err
	}
	for _, j := range taken {
		c.truth.add(victim{incident: incidentSilent, task: j.task, sandbox: j.sandbox})
	}
	return nil
}

// orphan: sandboxes are created for tasks whose rows were never saved.
func (c *script) orphan(ctx context.Context) error {
	for range 6 {
		id, err := c.platform.cloud.create(ctx, labelsOf(newJob()))
		if err != nil {
			return err
		}
		c.truth.add(victim{incident: incidentOrphan, sandbox: id})
	}
	return nil
}

// herdSize is more than the share of the fleet that opens the breaker.
const herdSize = 40

// herd: all of them come at the same moment.
func (c *script) herd(context.Context) error {
	created := time.Now()
	if c.hurry {
		created = created.Add(-longAgo)
	}
	for range herdSize {
		s := c.stage.cloud.Put(simulated.Sandbox{Template: demoSnapshot, Labels: labelsOf(newJob()), CreatedAt: created})
		c.truth.add(victim{incident: incidentHerd, sandbox: s.ID})
	}
	return nil
}

// ignoreStop: people stop tasks, the platform stops their sandboxes, the provider says yes
// and goes on.
func (c *script) ignoreStop(ctx context.Context) error {
	for _, j := range c.platform.take(3) {
		if err := c.stopInVain(ctx, j, incidentStopped); err != nil {
			return err
		}
	}
	return nil
}

func (c *script) stopInVain(ctx context.Context, j *job, name incident) error {
	defer c.stage.cloud.Inject(simulated.Fault{On: simulated.Stop, ID: j.sandbox, Effect: simulated.NotDone})()
	c.truth.add(victim{incident: name, task: j.task, sandbox: j.sandbox, status: "cancelled"})
	if err := c.stage.do(ctx, "task_cancel", pgx.StrictNamedArgs{"id": j.task}); err != nil {
		return err
	}
	return c.platform.cloud.stop(ctx, j.sandbox)
}

// slowStops: from now on more and more stops are ignored.
func (c *script) slowStops(context.Context) error {
	c.meanwhile = c.fewStops
	return nil
}

// fewStops: one replica alone may take all the work that comes at once, so it comes in
// portions, until the other one has some. To end one of these takes its time.
func (c *script) fewStops(ctx context.Context, o *reconcile.Overview) error {
	if c.replicaAtWork(o) || time.Since(c.portion) < 2*time.Second {
		return nil
	}
	c.portion = time.Now()
	for _, j := range c.platform.take(3) {
		c.stage.cloud.Inject(simulated.Fault{On: simulated.Delete, ID: j.sandbox, Delay: 2 * time.Second})
		if err := c.stopInVain(ctx, j, incidentKilled); err != nil {
			return err
		}
	}
	return nil
}

// resume: the platform moves three sandboxes to another machine. They say started.
func (c *script) resume(ctx context.Context) error {
	broken := []func(*simulated.Sandbox){
		func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Hung, simulated.Hung },
		func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead },
		func(s *simulated.Sandbox) { s.Files = simulated.NoPath },
	}
	taken := c.platform.take(len(broken))
	for i, j := range taken {
		c.truth.add(victim{incident: incidentResumed, task: j.task, sandbox: j.sandbox})
		if err := c.platform.cloud.stop(ctx, j.sandbox); err != nil {
			return err
		}
		if err := c.platform.cloud.start(ctx, j.sandbox); err != nil {
			return err
		}
		c.stage.cloud.Change(j.sandbox, broken[i])
	}
	return sleep(ctx, 1200*time.Millisecond) // until they are started
}

// forget: tasks end well, and nobody deletes their sandboxes. One of them is wanted again.
func (c *script) forget(ctx context.Context) error {
	for i, j := range c.platform.take(4) {
		v := victim{incident: incidentLeftover, task: j.task, sandbox: j.sandbox, status: "completed"}
		if i == 0 {
			v.incident, v.spared, c.wanted = incidentRestored, true, j.sandbox
		}
		c.truth.add(v)
		if err := c.stage.do(ctx, "task_complete", c.platform.told(j)); err != nil {
			return err
		}
	}
	return nil
}

// breakListing makes the listing fail while all else works: everything seems to be gone.
func (c *script) breakListing(context.Context) error {
	c.lift = c.stage.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 500})
	return nil
}

// cutListing: the listing answers well, in full, and leaves out two of three.
func (c *script) cutListing(context.Context) error {
	mend := c.lift
	c.lift = c.stage.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
		Omits: func(s simulated.Sandbox) bool { return s.ID[0]%3 > 0 }})
	mend()
	return nil
}

func (c *script) mendListing(context.Context) error {
	c.lift()
	return nil
}

// silenceAll takes the event pipeline down: every worker seems to be dead, and none is.
func (c *script) silenceAll(ctx context.Context) error {
	c.platform.mute(true)
	if !c.hurry {
		return nil
	}
	return c.stage.do(ctx, "events_age", pgx.StrictNamedArgs{"age": longAgo})
}

func (c *script) hearAll(context.Context) error {
	c.platform.mute(false)
	return nil
}
