package run_test

import (
	"errors"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A platform hears what is done to its tasks.
type platform struct {
	mu    sync.Mutex
	heard []reconcile.Notice
	deaf  bool // it answers nothing
}

var errDeaf = errors.New("no answer")

func (p *platform) hear(n reconcile.Notice) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf {
		return errDeaf
	}
	p.heard = append(p.heard, n)
	return nil
}

// deafen makes the platform answer nothing, or answer again.
func (p *platform) deafen(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
}

// told counts how often each step of a task was heard of: "fail stale".
func (p *platform) told() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int{}
	for i := range p.heard {
		out[string(p.heard[i].Step)+" "+p.heard[i].Task]++
	}
	return out
}
