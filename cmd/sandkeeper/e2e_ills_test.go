package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An ill is one thing that is broken, and what repairs it.
type ill struct {
	kind      string
	task, box string
	failed    bool // its row has to be failed
	ended     bool // its sandbox has to end
}

// illnesses are what fallIll knows.
var illnesses = []string{
	"never started", "never started, with a sandbox", "vanished", "silent", "orphan", "broken inside",
}

// fallIll breaks something new. It looks as if it had happened a while ago, so that a test
// need not wait for it.
func (p *living) fallIll(ctx context.Context, x *ill, now time.Time) error {
	x.task, x.failed = newUUID(), true
	key := "omoios-" + x.task[:8]
	p.ills = append(p.ills, x)
	switch x.kind {
	case "never started":
		return p.ail(ctx, x, key, "assigned")
	case "never started, with a sandbox":
		x.box, x.ended = p.boxOf(x.task, 26*time.Second).ID, true
		p.a.cloud.Change(x.box, func(s *simulated.Sandbox) { s.WorkerGone = true })
		return p.ail(ctx, x, key, "assigned")
	case "vanished":
		x.box = p.boxOf(x.task, time.Minute).ID
		p.a.cloud.Change(x.box, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
		return p.ail(ctx, x, key, "running")
	case "silent":
		x.box, x.ended = p.boxOf(x.task, time.Minute).ID, true
		p.a.cloud.Change(x.box, func(s *simulated.Sandbox) { s.WorkerGone = true })
		return p.ail(ctx, x, key, "running")
	case "orphan":
		x.failed, x.ended = false, true
		x.box = p.boxOf(x.task, time.Minute).ID
		return nil
	}
	x.box, x.ended = p.boxOf(x.task, time.Minute).ID, true
	p.a.cloud.Change(x.box, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
	p.jobs = append(p.jobs, &living1{task: x.task, key: key, box: x.box, running: true, ill: x, due: now})
	return p.ail(ctx, x, key, "running")
}

// ail writes the row of a task that is ill, and what its worker said when it was well.
func (p *living) ail(ctx context.Context, x *ill, key, status string) error {
	return p.insist(ctx, func() error {
		return pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error { return ailing(ctx, tx, []any{x.task, key, status}) })
	})
}

func ailing(ctx context.Context, tx pgx.Tx, row []any) error {
	tag, err := tx.Exec(ctx, `INSERT INTO program.tasks (id, status, sandbox_id, created_at, updated_at, started_at)
		VALUES ($1, $3::text, $2, now() - interval '70 s',
		        now() - CASE $3::text WHEN 'running' THEN interval '55 s' ELSE interval '26 s' END,
		        CASE $3::text WHEN 'running' THEN now() - interval '55 s' END)
		ON CONFLICT DO NOTHING`, row...)
	if err != nil || tag.RowsAffected() == 0 || row[2] != "running" {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at) VALUES
		($1, 'agent.started', now() - interval '55 s'), ($1, 'agent.heartbeat', now() - interval '25 s')`, row[1])
	return err
}

// infect breaks one thing of a kind.
func (p *living) infect(kind string) *ill {
	p.a.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	x := &ill{kind: kind}
	if err := p.fallIll(p.a.Context(), x, time.Now()); err != nil {
		p.a.Fatal(err)
	}
	return x
}

// sickness are the ills so far.
func (p *living) sickness() []*ill {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*ill(nil), p.ills...)
}

// heal lets nothing fall ill any more.
func (p *living) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = 0
}
