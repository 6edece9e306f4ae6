package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	program "os/exec"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A child is the program in a process of its own, which can be killed.
type child struct {
	cmd  *program.Cmd
	errs transcript
	done chan struct{}
}

// A transcript is what a process has said so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// atOnce is for the race detector, which otherwise waits a second before a process ends.
const atOnce = "GORACE=atexit_sleep_ms=0"

// prepare makes the call, without starting it.
func (a *arena) prepare(args ...string) *child {
	c := &child{done: make(chan struct{})}
	c.cmd = program.CommandContext(a.Context(), cmp.Or(a.program, os.Args[0]), append(args, "-c", a.config)...)
	c.cmd.Env = append(append(os.Environ(), runAsEnv+"=1", atOnce), a.env...)
	c.cmd.Stderr = &c.errs
	return c
}

func (c *child) start(t *testing.T) {
	t.Helper()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait() // killed on purpose, or judged by what it left
	}()
	t.Cleanup(c.kill)
}

func (a *arena) spawn(args ...string) *child {
	a.Helper()
	c := a.prepare(args...)
	c.start(a.T)
	return c
}

// kill is SIGKILL: nothing is put in order.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.done
}

// reaches waits until the condition holds, a bounded time: far longer than it takes, for this
// costs time only where a test fails, and a machine may be busy. It asks seldom, for most conditions
// are queries, and those that several tests ask at once would keep the machine busy by themselves.
func (a *arena) reaches(what string, is func() bool) {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), 5*time.Minute)
	defer cancel()
	for !is() {
		if reconcile.Sleep(ctx, 10*time.Millisecond) != nil {
			a.Fatalf("never reached: %s", what)
		}
	}
}
