package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	program "os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A replica is a second daemon in a process of its own, by the same program.
type replica struct {
	cmd   *program.Cmd
	log   string
	ended chan struct{}
}

// launchReplica starts `run` with a config that differs in the address of the page.
func launchReplica(ctx context.Context, s *demoStage) (*replica, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	config, err := s.writeConfig("replica.yaml", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &replica{log: filepath.Join(s.dir, "replica.log"), ended: make(chan struct{})}
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the replica's log: %w", err)
	}
	defer log.Close()
	r.cmd = program.CommandContext(ctx, path, "--config", config, "run") //nolint:gosec // this very program
	r.cmd.Stderr, r.cmd.SysProcAttr = log, replicaAttributes()
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a second replica: %w", err)
	}
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait() // it is killed: how it ended is no news
	}()
	return r, nil
}

// kill is SIGKILL: nothing is put in order.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill() // it may have ended by itself
	<-r.ended
}

// holds reports whether this is the name under which the replica works.
func (r *replica) holds(holder string) bool {
	return strings.Contains(holder, fmt.Sprintf(" pid %d ", r.cmd.Process.Pid))
}

// page waits until the replica runs, and returns the address of its page.
func (r *replica) page(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 20*time.Second, fmt.Errorf("the second replica does not start"))
	defer cancel()
	for {
		if page := r.running(); page != "" {
			return page, nil
		}
		select {
		case <-r.ended:
			text, _ := os.ReadFile(r.log) // what it says is only added
			return "", fmt.Errorf("the second replica ended at once: %s", strings.TrimSpace(string(text)))
		default:
		}
		if err := reconcile.Sleep(ctx, 100*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// running reads the address of the page from the replica's log, "" before it runs.
func (r *replica) running() string {
	log, err := os.Open(r.log)
	if err != nil {
		return ""
	}
	defer log.Close()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Page string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "running" {
			return line.Page
		}
	}
	return ""
}

// startReplica: more than one may run, and they share the work.
func (c *script) startReplica(ctx context.Context) (err error) {
	if c.replica, err = launchReplica(ctx, c.stage); err != nil {
		return err
	}
	page, err := c.replica.page(ctx)
	if err == nil {
		c.tell.note("process %d; its page %s shows the same, for both read the ledger", c.replica.cmd.Process.Pid, page)
	}
	return err
}

// killReplica: the machine of one replica is gone from one moment to the next.
func (c *script) killReplica(context.Context) error {
	c.replica.kill()
	c.killed, c.meanwhile = time.Now(), nil
	return nil
}

// tellGap tells how long nobody looked, at most, since shortly before the replica was killed.
func (c *script) tellGap(ctx context.Context) error {
	passes, err := c.keeper.ledger.LastPasses(ctx, 200)
	if err != nil {
		return err
	}
	c.tell.note("passes went on: never more than %s from one to the next", widestGap(passes, c.killed))
	return nil
}

// widestGap is between two passes that began one after the other, from the last one
// before a time on.
func widestGap(newestFirst []reconcile.PassSeen, since time.Time) time.Duration {
	var longest time.Duration
	for i := range len(newestFirst) - 1 {
		later, earlier := newestFirst[i].BeganAt, newestFirst[i+1].BeganAt
		longest = max(longest, later.Sub(earlier))
		if earlier.Before(since) {
			break
		}
	}
	return longest.Round(100 * time.Millisecond)
}
