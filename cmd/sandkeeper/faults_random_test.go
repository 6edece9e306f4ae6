package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// processesAtRandom kills, stops and freezes one replica after the other for as long as
// -for says, under load and with a network that loses calls.
func processesAtRandom(t *testing.T) *siege {
	s := besiege(t, nil)
	s.burden()
	s.auditor.faults()
	did, rng := map[string]int{}, rand.New(rand.NewPCG(s.seed, 5))
	began := time.Now()
	for until := began.Add(*replicasFor); time.Now().Before(until); {
		s.pass(within(rng, 200*time.Millisecond, 3*time.Second))
		did[s.strikeProcess(rng)]++
		s.burden()
	}
	s.cloud.Fix()
	s.recovers(time.Now())
	s.end()
	t.Logf("%s: %s", time.Since(began).Round(time.Second), listed(did))
	return s
}

// burden keeps about as much broken as budgets let be repaired in some passes: more would only
// wait.
func (s *siege) burden() {
	s.Helper()
	every := 300 * time.Millisecond
	if len(s.unrepaired()) > 40 {
		every = 5 * time.Second
	}
	s.p.hurry(every)
}

func within(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)))
}

// strikeProcess does something to one of the replicas, and leaves three that run.
func (s *siege) strikeProcess(rng *rand.Rand) (what string) {
	s.Helper()
	i := rng.IntN(len(s.replicas))
	d := s.replicas[i]
	switch rng.IntN(4) {
	case 0, 1:
		s.kill(d.child)
		what = "killed"
	case 2:
		s.tell(d)
		what = "told to stop"
	default:
		s.freezeFor(d, within(rng, 100*time.Millisecond, 25*time.Second))
		return "frozen"
	}
	s.noSecretsIn("the log", d.errs.String())
	s.pass(within(rng, 1, time.Second))
	s.replicas[i] = s.restarted(i)
	return what
}

// restarted starts a replica as whoever keeps processes does: again when it ends at once,
// because its database is away.
func (s *siege) restarted(i int) *daemonChild {
	s.Helper()
	for until := time.Now().Add(90 * time.Second); time.Now().Before(until); s.pass(500 * time.Millisecond) {
		c := s.spawn("run")
		for !c.over() {
			if _, ok := c.said("page"); ok {
				return &daemonChild{c, s.arena}
			}
			s.pass(10 * time.Millisecond)
		}
		s.noSecretsIn("the log", c.errs.String())
	}
	s.Fatalf("replica %d never starts", i)
	return nil
}

// tell is SIGTERM, noted. While its database is away a replica may end with an error.
func (s *siege) tell(d *daemonChild) {
	s.Helper()
	s.mu.Lock()
	s.kills++
	s.killed[d.cmd.Process.Pid] = time.Now()
	s.mu.Unlock()
	d.signal(s.T, syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(time.Minute):
		s.Fatalf("process %d does not end", d.cmd.Process.Pid)
	}
}

// freezeFor stops a process as a machine does that swaps, and lets it go on.
func (s *siege) freezeFor(d *daemonChild, how time.Duration) {
	s.Helper()
	began := time.Now()
	d.signal(s.T, syscall.SIGSTOP)
	s.mu.Lock()
	s.killed[d.cmd.Process.Pid] = began // to the others it is as good as dead
	s.mu.Unlock()
	s.pass(how)
	d.signal(s.T, syscall.SIGCONT)
	s.mu.Lock()
	s.spans = append(s.spans, span{began, time.Now().Add(time.Second)})
	s.mu.Unlock()
}

// hurry makes ills come more often.
func (p *living) hurry(every time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = every
}

// everythingAtRandom strikes with one fault after the other, and at times with two at once,
// for as long as -for says. Between them the replicas recover by themselves.
func everythingAtRandom(t *testing.T) *siege {
	s := besiege(t, func(s *siege) {
		lies(s) // one of the faults does
		databaseByWire(s)
	})
	did, rng := map[string]int{}, rand.New(rand.NewPCG(s.seed, 6))
	all := atRandom()
	names := slices.Sorted(maps.Keys(all))
	worst := 0
	for began := time.Now(); time.Since(began) < *replicasFor; s.pass(within(rng, 1, 3*time.Second)) {
		from := time.Now()
		two := rng.Perm(len(names))[:1+rng.IntN(3)/2]
		slices.Sort(two) // processes come last, and come back when nothing else keeps them
		var mends []func()
		for _, i := range two {
			did[names[i]]++
			mends = append(mends, all[names[i]](s))
		}
		s.watchFor(within(rng, 500*time.Millisecond, 12*time.Second))
		for _, mend := range mends {
			mend()
		}
		s.recovers(from)
		worst = max(worst, s.recovery.passes)
	}
	s.recovery.passes = worst
	s.end()
	t.Logf("%s; passes to recover at most %d", listed(did), worst)
	return s
}

// atRandom are the faults that may come at any time.
func atRandom() map[string]func(*siege) func() {
	return map[string]func(*siege) func(){
		"database stopped":            ends(syscall.SIGINT),
		"database stopped at once":    ends(syscall.SIGQUIT),
		"database killed":             ends(syscall.SIGKILL),
		"backends killed":             killsBackends,
		"sessions ended":              endsSessions,
		"database cut":                cutEvery(500 * time.Millisecond),
		"database half open":          wireIs(mood{swallow: true}),
		"database late":               wireIs(mood{stall: true}),
		"database far":                wireIs(mood{delay: 30 * time.Millisecond}),
		"provider hangs":              injected(simulated.Fault{Effect: simulated.Hang}),
		"provider loses calls":        injected(simulated.Fault{Chance: 0.3, Effect: simulated.Drop}),
		"provider does and fails":     injected(simulated.Fault{On: simulated.Delete, Effect: simulated.DoneThenDrop}),
		"provider throttles":          answeredWith(throttle()),
		"provider overloaded":         always(503, `{"statusCode": 503, "message": "overloaded"}`),
		"provider gone wrong":         always(404, `{"statusCode": 404, "message": "Sandbox not found"}`),
		"provider torn":               answeredWith(torn),
		"provider: 100 MB":            answeredWith(garbage(200, "application/json")),
		"provider lists nothing":      injected(simulated.Fault{On: simulated.List, Effect: simulated.EmptyList}),
		"replicas killed and stopped": strikesProcesses,
	}
}

// strikesProcesses strikes two while the other faults are on; who was ended comes back
// after them.
func strikesProcesses(s *siege) func() {
	rng := rand.New(rand.NewPCG(s.seed, uint64(s.kills)))
	var back []int
	for range 2 {
		i := rng.IntN(len(s.replicas))
		switch d := s.replicas[i]; {
		case d.over():
			continue
		case rng.IntN(2) == 0:
			s.kill(d.child)
		default:
			s.tell(d)
		}
		back = append(back, i)
	}
	return func() {
		for _, i := range back {
			s.replicas[i] = s.restarted(i)
		}
	}
}
