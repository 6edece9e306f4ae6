package main

import (
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// TestCronJobBesideTheDaemon: somebody leaves the CronJob of `once` running beside `run`,
// or runs several of them. They take turns, and nothing is done twice.
func TestCronJobBesideTheDaemon(t *testing.T) {
	t.Parallel()
	for name, called := range map[string]string{"beside run": "run", "beside serve": "serve"} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			au := a.audited(seedOf(t), nil)
			a.configure(livingSettings)
			a.must("migrate")
			au.p.every = 600 * time.Millisecond
			defer au.p.start()()
			au.faults()
			d := a.daemon(called)
			stop := a.cronJobs(2)
			a.pass(*replicasFor)
			a.reaches("passes of both", func() bool {
				holders, most := au.holders()
				return len(holders) >= 5 && (called == "serve" || most > 1)
			})
			au.settled()
			for _, code := range stop() {
				if code != 0 && code != 1 && code != verb.NotTrusted { // 1: somebody else was in a pass for too long
					t.Errorf("a run of once ended with exit code %d", code)
				}
			}
			if called == "serve" {
				au.shownBy(d)
			}
			au.stop(d)
			au.audit()
			au.bothWorked(called)
		})
	}
}

// cronJobs runs `once` again and again, so many side by side, until stop is called, which
// returns their exit codes.
func (a *arena) cronJobs(n int) (stop func() []int) {
	a.Helper()
	var mu sync.Mutex
	var codes []int
	var wg sync.WaitGroup
	end := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			for {
				select {
				case <-end:
					return
				case <-time.After(time.Duration(1+i) * 500 * time.Millisecond):
				}
				c := a.prepare("once", "--wait", "3s")
				_ = c.cmd.Run() // its exit code is looked at
				mu.Lock()
				codes = append(codes, c.cmd.ProcessState.ExitCode())
				mu.Unlock()
			}
		})
	}
	return sync.OnceValue(func() []int {
		close(end)
		wg.Wait()
		return codes
	})
}

// shownBy demands that the page of `serve` shows what the CronJobs did.
func (au *auditor) shownBy(d *daemonChild) {
	au.Helper()
	m := d.series()
	if m[`sandkeeper_passes_total{installation="test",kind="full",outcome="complete"}`] == "" ||
		m[`sandkeeper_actions_total{installation="test",outcome="confirmed",provider="daytona",rule="orphan",step="terminate"}`] == "" {
		au.Errorf("the metrics of serve do not show the passes and actions of once: %v", m)
	}
	if status, _ := d.read("/readyz"); status != 200 {
		au.Errorf("/readyz of serve answers %d", status)
	}
}

// bothWorked demands that the passes were made by those who should.
func (au *auditor) bothWorked(verb string) {
	au.Helper()
	holders, most := au.holders()
	au.Logf("%d processes made passes, one of them %d", len(holders), most)
	if len(holders) < 5 || verb == "run" && most < 2 || verb == "serve" && most > 1 {
		au.Errorf("passes by process: %v", holders)
	}
}

// holders are how many passes each process made, and the most that one made.
func (au *auditor) holders() (passes map[string]int, most int) {
	au.Helper()
	passes = map[string]int{}
	for _, t := range au.turns() {
		passes[t.Holder]++
		most = max(most, passes[t.Holder])
	}
	return passes, most
}
