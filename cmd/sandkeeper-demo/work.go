package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// advance moves a task into the next phase of its life.
func (p *platform) advance(ctx context.Context, j *job, now time.Time) error {
	switch j.phase {
	case phasePending:
		return p.assign(ctx, j, now)
	case phaseAssigned:
		j.phase, j.due, j.speaks = phaseRunning, now.Add(lasting5to10()), now.Add(soon(8*time.Second))
		return p.stage.do(ctx, "task_start", p.told(j))
	case phaseRunning:
		j.phase, j.due = phaseLeaving, now.Add(soon(4*time.Second))
		return p.stage.do(ctx, "task_complete", p.told(j))
	case phaseLeaving:
		j.phase = phaseOver
		p.truth.leave(j.sandbox)
		return tolerated(p.clouds[j.at].remove(ctx, j.sandbox))
	}
	return nil
}

// told is what the platform writes of a worker that starts or ends.
func (p *platform) told(j *job) pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"id": j.task, "key": j.key, "heard": !p.muted}
}

// assign takes a task out of the queue, asks for its sandbox, and hands the task to it. When
// the provider refuses, it does nothing. The task stays in claiming.
func (p *platform) assign(ctx context.Context, j *job, now time.Time) error {
	if err := p.stage.do(ctx, "task_claim", pgx.StrictNamedArgs{"id": j.task, "provider": j.at}); err != nil {
		return err
	}
	id, err := p.clouds[j.at].create(ctx, labelsOf(j))
	var no *refusal
	if errors.As(err, &no) {
		j.broken = true
		p.truth.add(affected{incident: incidentSnapshot, task: j.task})
		return nil
	}
	if err != nil {
		return err
	}
	j.phase, j.sandbox, j.due = phaseAssigned, id, now.Add(2*time.Second)
	return p.stage.do(ctx, "task_assign", pgx.StrictNamedArgs{"id": j.task, "key": j.key, "agent": agentOf(j)})
}

// daytona is the client that can do more than the others.
func (p *platform) daytona() *daytonaCloud {
	c, _ := p.clouds[atDaytona].(*daytonaCloud)
	return c
}

// tolerated drops what the provider says: the platform does not look at it either.
func tolerated(err error) error {
	var no *refusal
	if errors.As(err, &no) {
		return nil
	}
	return err
}

// take picks n tasks of a provider that are at work, and will be for a while, for the script
// to break.
func (p *platform) take(n int, at string) []*job {
	p.mu.Lock()
	defer p.mu.Unlock()
	var taken []*job
	for _, j := range p.jobs {
		if len(taken) == n {
			break
		}
		if j.at == at && j.phase == phaseRunning && !j.broken && time.Until(j.due) > time.Minute {
			j.broken = true
			taken = append(taken, j)
		}
	}
	return taken
}

// takeEach takes tasks of each provider, in the order of the arguments: Daytona, E2B, Vercel.
func (p *platform) takeEach(daytona, e2b, vercel int) []*job {
	return slices.Concat(p.take(daytona, atDaytona), p.take(e2b, atE2B), p.take(vercel, atVercel))
}

// healthy are the sandboxes of tasks at work that nobody broke, by task.
func (p *platform) healthy() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]string{}
	for _, j := range p.jobs {
		if !j.broken && j.sandbox != "" && j.phase < phaseLeaving {
			out[j.task] = j.sandbox
		}
	}
	return out
}

// request lets n users ask for work at once, which is sent to one provider.
func (p *platform) request(ctx context.Context, n int, at string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		if err := p.add(ctx, newJob(at), time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// mute takes the pipeline of the workers' events down, or brings it back.
func (p *platform) mute(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.muted = down
}
