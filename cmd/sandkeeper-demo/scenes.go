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
	t, err := c.stage.at(atDaytona).TemplateOf(demoSnapshot)
	if err != nil {
		return err
	}
	t.State = reconcile.TemplateInactive
	c.stage.at(atDaytona).PutTemplate(t)
	return c.platform.request(ctx, 10, atDaytona)
}

func (c *script) restoreSnapshot(ctx context.Context) error {
	t, err := c.stage.at(atDaytona).TemplateOf(demoSnapshot)
	if err != nil {
		return err
	}
	return c.platform.daytona().activate(ctx, t.ID)
}

// vanish: the runners lost the containers, and the providers their records of them.
func (c *script) vanish(context.Context) error {
	for _, j := range c.platform.takeEach(2, 1, 1) {
		c.truth.add(affected{incident: incidentVanished, task: j.task})
		c.truth.leave(j.sandbox)
		c.stage.change(j.sandbox, func(s *simulated.Sandbox) {
			s.Gone, s.State = true, reconcile.SandboxEnded
		})
	}
	return nil
}

// silence: the workers' processes end, their sandboxes know nothing of it. Somebody looks
// into one of them, and wants it left as it is.
func (c *script) silence(ctx context.Context) error {
	taken := c.platform.takeEach(2, 1, 1)
	if err := c.hands().hold(ctx, taken[0].task); err != nil {
		return err
	}
	for _, j := range taken {
		c.truth.add(affected{incident: incidentSilent, task: j.task, sandbox: j.sandbox})
		c.stage.change(j.sandbox, func(s *simulated.Sandbox) { s.WorkerGone = true })
	}
	return nil
}

// orphan: sandboxes are created for tasks whose rows were never saved.
func (c *script) orphan(ctx context.Context) error {
	for _, at := range []string{atDaytona, atDaytona, atDaytona, atE2B, atE2B, atVercel} {
		id, err := c.platform.clouds[at].create(ctx, labelsOf(newJob(at)))
		if err != nil {
			return err
		}
		c.truth.add(affected{incident: incidentOrphan, sandbox: id})
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
		id := c.stage.at(atDaytona).place(newJob(atDaytona), created)
		c.truth.add(affected{incident: incidentHerd, sandbox: id})
	}
	return nil
}

// ignoreStop: people stop tasks, the platform stops their sandboxes, the providers say yes
// and go on.
func (c *script) ignoreStop(ctx context.Context) error {
	for _, j := range c.platform.takeEach(1, 1, 1) {
		if err := c.stopInVain(ctx, j, incidentStopped); err != nil {
			return err
		}
	}
	return nil
}

func (c *script) stopInVain(ctx context.Context, j *job, name incident) error {
	ends := func(call simulated.Call) bool { return call.Kind == simulated.Stop || call.Kind == simulated.Delete }
	defer c.stage.at(j.at).Inject(simulated.Fault{Match: ends, ID: j.sandbox, Effect: simulated.NotDone})()
	c.truth.add(affected{incident: name, task: j.task, sandbox: j.sandbox, status: "failed"})
	if err := c.stage.do(ctx, "task_cancel", pgx.StrictNamedArgs{"id": j.task}); err != nil {
		return err
	}
	return c.platform.clouds[j.at].stop(ctx, j.sandbox)
}

// slowStops: from now on more and more stops are ignored.
func (c *script) slowStops(context.Context) error {
	c.meanwhile = c.fewStops
	return nil
}

// fewStops: one replica alone may take all the work that comes at once, so it comes in
// portions, until the other one has some. To end one of these takes its time.
func (c *script) fewStops(ctx context.Context, o *reconcile.Overview) error {
	if c.waits().replicaAtWork(o) || time.Since(c.portion) < 2*time.Second {
		return nil
	}
	c.portion = time.Now()
	for _, j := range c.platform.take(3, atDaytona) {
		c.stage.at(atDaytona).Inject(simulated.Fault{On: simulated.Delete, ID: j.sandbox, Delay: 2 * time.Second})
		if err := c.stopInVain(ctx, j, incidentKilled); err != nil {
			return err
		}
	}
	return nil
}

// move: the provider moves three sandboxes to another machine. They say started. Nobody sees them
// stop: after a resume that a pass has seen, failed probes would not count for a while.
func (c *script) move(context.Context) error {
	broken := []func(*simulated.Sandbox){
		func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Hung, simulated.Hung },
		func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead },
		func(s *simulated.Sandbox) { s.Files = simulated.NoPath },
	}
	for i, j := range c.platform.take(len(broken), atDaytona) {
		c.truth.add(affected{incident: incidentMoved, task: j.task, sandbox: j.sandbox})
		c.stage.change(j.sandbox, broken[i])
	}
	return nil
}

// forget: tasks end well, and nobody deletes their sandboxes. One of them is wanted again.
func (c *script) forget(ctx context.Context) error {
	for i, j := range c.platform.takeEach(2, 2, 0) {
		v := affected{incident: incidentLeftover, task: j.task, sandbox: j.sandbox, status: "completed"}
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
