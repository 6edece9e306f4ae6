package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// launchReplica starts a second daemon, with a config that differs in the address of the page.
func launchReplica(ctx context.Context, s *demoStage) (*daemon, string, error) {
	config, err := s.writeConfig("replica.yaml", anyAddress)
	if err != nil {
		return nil, "", err
	}
	second := &program{path: s.program.path, config: config}
	return second.run(ctx, filepath.Join(s.dir, "replica.log"))
}

// startReplica: more than one may run, and they share the work.
func (c *script) startReplica(ctx context.Context) (err error) {
	page := ""
	if c.replica, page, err = launchReplica(ctx, c.stage); err != nil {
		return err
	}
	c.tell.note("process %d; its page %s shows the same, for both read the ledger", c.replica.cmd.Process.Pid, page)
	return nil
}

// killReplica: the machine of one replica is gone from one moment to the next.
func (c *script) killReplica(context.Context) error {
	c.replica.kill()
	c.killed, c.meanwhile = time.Now(), nil
	return nil
}

// tellGap tells how long nobody looked, at most, since shortly before the replica was killed.
func (c *script) tellGap(ctx context.Context) error {
	passes, err := c.ledger.LastPasses(ctx, 200)
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
