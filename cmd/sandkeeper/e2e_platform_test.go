package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A living platform creates tasks, starts workers, hears their heartbeats, and cleans up
// behind them. Some of what it does is broken from the start or at the end: the ills. It
// writes down which, and knows nothing of sandkeeper.
type living struct {
	a     *arena
	db    *pgxpool.Pool
	rng   *rand.Rand
	tasks int           // at work at a time
	every time.Duration // an ill about as often; 0: no more of them

	patient bool // it tries a write again until its database takes it

	mu   sync.Mutex
	jobs []*living1
	ills []*ill
	next time.Time // when the next ill comes
}

// living1 is one task at work.
type living1 struct {
	task, key, box string
	running        bool
	due            time.Time // it starts, or it is done
	speaks         time.Time // its worker's next heartbeat
	ill            *ill      // its sandbox is broken inside
}

// liveOn makes a world whose deletes take a moment, and a platform in it.
func (a *arena) liveOn(seed uint64, around func(http.Handler) http.Handler) *living {
	a.Helper()
	a.cloud = simulated.New(simulated.Options{Seed: seed, DeleteAfter: 300 * time.Millisecond})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	var h http.Handler = daytonatest.New(a.cloud, daytonatest.Options{TaskLabel: "task_id", Key: a.key})
	if around != nil {
		h = around(h)
	}
	server := httptest.NewServer(h)
	a.Cleanup(server.Close)
	a.url = server.URL + "/api"
	config, err := pgxpool.ParseConfig(a.dsn)
	if err != nil {
		a.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "platform"
	db, err := pgxpool.NewWithConfig(a.Context(), config)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(db.Close)
	return &living{a: a, db: db, rng: rand.New(rand.NewPCG(seed, 7)), tasks: 30}
}

// start lets the platform live in the background until the returned function is called.
func (p *living) start() (stop func()) {
	ctx, cancel := context.WithCancel(p.a.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.live(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			p.a.Errorf("the platform: %v", err)
		}
	}
}

func (p *living) live(ctx context.Context) error {
	for {
		if err := p.turn(context.WithoutCancel(ctx), time.Now()); err != nil {
			return err
		}
		if reconcile.Sleep(ctx, 100*time.Millisecond) != nil {
			return nil
		}
	}
}

func (p *living) turn(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var stay []*living1
	for _, j := range p.jobs {
		stays, err := p.step(ctx, j, now)
		if err != nil {
			return err
		}
		if stays {
			stay = append(stay, j)
		}
	}
	p.jobs = stay
	for len(p.jobs) < p.tasks {
		if err := p.assign(ctx, now); err != nil {
			return err
		}
	}
	if p.every > 0 && now.After(p.next) {
		p.next = now.Add(p.every/2 + p.some(p.every))
		if err := p.fallIll(ctx, &ill{kind: p.illness()}, now); err != nil {
			return err
		}
	}
	return p.beat(ctx, now)
}

// illness is what breaks next. Where half of what is probed is broken inside, all of that is held as the provider's
// fault and waits for a person: so few are at a time.
func (p *living) illness() string {
	broken := 0
	for _, j := range p.jobs {
		if j.ill != nil {
			broken++
		}
	}
	kind := illnesses[p.rng.IntN(len(illnesses))]
	if kind == "broken inside" && 4*broken >= len(p.jobs) {
		return "silent"
	}
	return kind
}

func (p *living) some(d time.Duration) time.Duration { return time.Duration(p.rng.Int64N(int64(d))) }

// assign hands a new task to a new worker.
func (p *living) assign(ctx context.Context, now time.Time) error {
	j := &living1{task: newUUID(), due: now.Add(p.some(time.Second))}
	j.key = "omoios-" + j.task[:8]
	if err := p.exec(ctx, `INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'assigned', $2)
		ON CONFLICT DO NOTHING`, j.task, j.key); err != nil {
		return err
	}
	j.box = p.boxOf(j.task, 0).ID
	p.jobs = append(p.jobs, j)
	return nil
}

// boxOf is a running sandbox of the platform's that names a task.
func (p *living) boxOf(task string, age time.Duration) simulated.Sandbox {
	return p.a.cloud.Put(simulated.Sandbox{Template: "ai-agent-dev-light", CreatedAt: time.Now().Add(-age),
		Labels: map[string]string{"project": "omoios", "task_id": task}})
}

// step takes one task on when its time has come.
func (p *living) step(ctx context.Context, j *living1, now time.Time) (stays bool, err error) {
	if now.Before(j.due) {
		return true, nil
	}
	if j.ill != nil {
		return p.stepIll(ctx, j, now)
	}
	if !j.running {
		j.running, j.due, j.speaks = true, now.Add(3*time.Second+p.some(10*time.Second)), now
		err := p.exec(ctx, `WITH said AS (INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ($2, 'agent.started'))
			UPDATE tasks SET status = 'running', started_at = now(), updated_at = now()
			WHERE id = $1 AND status = 'assigned'`, j.task, j.key)
		return true, err
	}
	return false, p.finish(ctx, j)
}

// finish ends a task: done, or stopped by a person. Then its sandbox goes, or is forgotten.
func (p *living) finish(ctx context.Context, j *living1) error {
	status, said, kind := "completed", any(nil), "lingering"
	if p.rng.IntN(3) == 0 {
		status, said, kind = "failed", "Task cancelled: stopped by its user", "stop ignored"
	}
	began := time.Now()
	err := p.exec(ctx, `UPDATE tasks SET status = $2, error_message = $3, completed_at = now(), updated_at = now()
		WHERE id = $1 AND status = 'running'`, j.task, status, said)
	if err != nil {
		return err
	}
	late := time.Since(began) > 500*time.Millisecond // others may have seen it for too long by now: a busy machine
	if p.every > 0 && p.rng.IntN(4) == 0 || late {
		p.ills = append(p.ills, &ill{kind: kind, task: j.task, box: j.box, ended: true})
		return nil
	}
	if _, err := p.a.cloud.Destroy(j.box); err != nil {
		return fmt.Errorf("delete sandbox %s: %w", j.box, err)
	}
	return nil
}

// stepIll lets the worker in a broken sandbox speak until its row is no longer running.
func (p *living) stepIll(ctx context.Context, j *living1, now time.Time) (stays bool, err error) {
	j.due = now.Add(time.Second)
	var status string
	err = p.insist(ctx, func() error {
		return p.db.QueryRow(ctx, "SELECT status FROM tasks WHERE id = $1", j.task).Scan(&status)
	})
	return status == "running", err
}

// beat sends the heartbeats that are due.
func (p *living) beat(ctx context.Context, now time.Time) error {
	var keys []string
	for _, j := range p.jobs {
		if j.running && !now.Before(j.speaks) {
			j.speaks = now.Add(time.Second)
			keys = append(keys, j.key)
		}
	}
	return p.exec(ctx, "INSERT INTO program.sandbox_events (sandbox_id, event_type) SELECT k, 'agent.heartbeat' FROM unnest($1::text[]) k", keys)
}

func (p *living) exec(ctx context.Context, query string, args ...any) error {
	err := p.insist(ctx, func() error {
		_, err := p.db.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// insist does something, and as often as a patient platform has to: each write is good
// twice, for a connection that breaks does not say whether it was done.
func (p *living) insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || !p.patient || reconcile.Sleep(p.a.Context(), 50*time.Millisecond) != nil {
			return err
		}
	}
}
