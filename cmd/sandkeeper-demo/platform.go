package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// demoForeign is how many sandboxes of another team are in the same accounts.
const demoForeign = 40

// A workPhase is where a task of the platform is in its life.
type workPhase int

const (
	phasePending workPhase = iota
	phaseAssigned
	phaseRunning
	phaseLeaving // completed, its sandbox is about to be deleted
	phaseOver
)

// A job is one task as the platform knows it, with the worker that is at it.
type job struct {
	task    string
	at      string // the provider that it is sent to
	key     string // the platform's own name of its sandbox
	sandbox string // the provider's id
	phase   workPhase
	due     time.Time // when the phase ends
	speaks  time.Time // when the worker says something next
	tool    bool      // the worker uses a tool
	waits   int       // how many heartbeats come before it works again
	broken  bool      // the script broke it: the platform does nothing more for it, and does not know
}

// A platform creates tasks, hands them to workers in sandboxes, and cleans up after them,
// as OmoiOS does: sometimes badly. It knows nothing of sandkeeper.
type platform struct {
	stage  *demoStage
	clouds map[string]cloud // by provider
	truth  *truth

	mu    sync.Mutex
	jobs  []*job
	sent  int  // how many tasks were sent to a provider in turn
	muted bool // the pipeline of the workers' events is down
}

func newPlatform(s *demoStage, t *truth) *platform {
	return &platform{stage: s, clouds: newClouds(s), truth: t}
}

// populate makes the world that the demo begins with: a morning's work under way, some of
// it finished, and another team's sandboxes in the same accounts.
func (p *platform) populate(ctx context.Context) error {
	now := time.Now()
	var ids, keys, agents, providers []string
	var minutes []int32
	for range p.stage.workers {
		j, age := newJob(p.next()), int32(1+mathrand.IntN(10))
		j.phase, j.due, j.speaks = phaseRunning, now.Add(mathrand.N(10*time.Minute)), now.Add(soon(8*time.Second))
		j.tool = true
		j.sandbox = p.stage.at(j.at).place(j, now.Add(-time.Duration(age)*time.Minute-5*time.Second))
		p.jobs = append(p.jobs, j)
		ids, keys, minutes = append(ids, j.task), append(keys, j.key), append(minutes, age)
		agents, providers = append(agents, agentOf(j)), append(providers, j.at)
	}
	for i := range demoForeign {
		s := p.stage.providers[i%2].Put(simulated.Sandbox{Name: fmt.Sprintf("training-%02d", i), Template: "gpu-base",
			Labels:    map[string]string{"project": "research", "task_id": newUUID()},
			CreatedAt: now.Add(-time.Duration(i) * time.Hour / 2)})
		p.truth.foreign = append(p.truth.foreign, s.ID)
	}
	if err := p.stage.do(ctx, "tasks_history", pgx.StrictNamedArgs{"count": 200}); err != nil {
		return err
	}
	return p.stage.do(ctx, "tasks_before", pgx.StrictNamedArgs{"ids": ids, "keys": keys, "agents": agents,
		"providers": providers, "minutes": minutes})
}

// next is the provider whose turn it is.
func (p *platform) next() string {
	p.sent++
	shares := demoShares()
	return shares[p.sent%len(shares)]
}

func newJob(at string) *job {
	j := &job{task: newUUID(), at: at}
	j.key = "omoios-" + j.task[:8] + "-" + j.task[30:]
	return j
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func agentOf(j *job) string { return "agent-" + j.task[:8] }

func labelsOf(j *job) map[string]string {
	return map[string]string{
		"project":  "omoios",
		"task_id":  j.task,
		"agent_id": agentOf(j),
		"phase_id": "PHASE_IMPLEMENTATION",
	}
}

// soon is a moment within d, not at once.
func soon(d time.Duration) time.Duration { return d/4 + mathrand.N(3*d/4) }

func lasting5to10() time.Duration { return 5*time.Minute + mathrand.N(5*time.Minute) }

// live plays the platform until the context ends. What it meets at the provider it takes
// as platforms do; an error is a fault of the demo itself.
func (p *platform) live(ctx context.Context) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if err := p.turn(ctx, now); err != nil {
				return interrupted(ctx, err)
			}
		}
	}
}

// turn lets every task go on whose time has come, workers speak, and users ask for more.
func (p *platform) turn(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.jobs[:0]
	for _, j := range p.jobs {
		if !j.broken && !now.Before(j.due) {
			if err := p.advance(ctx, j, now); err != nil {
				return err
			}
		}
		if j.phase != phaseOver {
			kept = append(kept, j)
		}
	}
	p.jobs = kept
	if err := p.speak(ctx, now); err != nil {
		return err
	}
	return p.ask(ctx, now)
}

// says is what a worker says next. At work it is what its tools do: a heartbeat is only sent
// while the worker waits for messages.
func (j *job) says() string {
	switch {
	case j.tool:
		j.tool, j.waits = false, mathrand.IntN(3)
		return "agent.tool_completed"
	case j.waits > 0:
		j.waits--
		return "agent.heartbeat"
	}
	j.tool = true
	return "agent.tool_use"
}

// speak sends what the workers say.
func (p *platform) speak(ctx context.Context, now time.Time) error {
	var ids, keys, types []string
	for _, j := range p.jobs {
		if j.broken || j.phase != phaseRunning || now.Before(j.speaks) {
			continue
		}
		ids, keys, types = append(ids, j.task), append(keys, j.key), append(types, j.says())
		j.speaks = now.Add(soon(12 * time.Second))
	}
	if len(keys) == 0 || p.muted {
		return nil // what nobody takes in is lost
	}
	return p.stage.do(ctx, "events_add", pgx.StrictNamedArgs{"ids": ids, "keys": keys, "types": types})
}

// ask brings in a new task, about one a second while there are fewer than at the start.
func (p *platform) ask(ctx context.Context, now time.Time) error {
	working := 0
	for _, j := range p.jobs {
		if !j.broken && j.phase < phaseLeaving {
			working++
		}
	}
	if working >= p.stage.workers || mathrand.IntN(2) > 0 {
		return nil
	}
	return p.add(ctx, newJob(p.next()), now)
}

func (p *platform) add(ctx context.Context, j *job, now time.Time) error {
	j.due = now.Add(soon(2 * time.Second))
	p.jobs = append(p.jobs, j)
	return p.stage.do(ctx, "task_new", pgx.StrictNamedArgs{"id": j.task})
}
