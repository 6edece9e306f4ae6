package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

// orphanRule is the rule whose breaker the story opens.
const orphanRule = "orphan"

// requests calls a verb as the operator of the story, with a reason, and tells what it said.
func (c hands) requests(ctx context.Context, reason string, args ...string) error {
	said, err := c.stage.program.verb(ctx, append(args, "--author", "ana", "--reason", reason)...)
	for line := range strings.Lines(said) {
		c.tell.operator(strings.TrimSpace(line))
	}
	return err
}

// hold keeps sandkeeper's hands off a task.
func (c hands) hold(ctx context.Context, task string) error {
	c.held = task
	return c.requests(ctx, "I am looking into this one", "hold", "task:"+task, "--for", c.longest.String())
}

func (c hands) liftHold(ctx context.Context) error {
	return c.requests(ctx, "seen enough", "unhold", "task:"+c.held)
}

// hashShown is the hash of a list of held subjects, in the command that releases them.
var hashShown = regexp.MustCompile(`--hash (\S+)`)

// release lets the listed subjects pass the open breaker, by the hash of the list.
func (c hands) release(ctx context.Context) error {
	listed, err := c.stage.program.verb(ctx, "release", orphanRule)
	if err != nil {
		return err
	}
	hash := hashShown.FindStringSubmatch(listed)
	if hash == nil {
		return fmt.Errorf("sandkeeper release %s shows no hash: %s", orphanRule, listed)
	}
	c.tell.operator("sandkeeper release " + orphanRule + " " + hash[0])
	return c.requests(ctx, "all 40 are from the script of this morning", "release", orphanRule, "--hash", hash[1],
		"--for", c.longest.String())
}

// affected lists the tasks that the incident of the snapshot has failed.
func (c hands) affected(ctx context.Context) error {
	o, err := c.ledger.Overview(ctx, most)
	if err != nil {
		return err
	}
	in := c.waits().incidentOf(&o)
	if in == nil {
		return errors.New("the incident of the snapshot is not on record any more")
	}
	ids, err := c.stage.program.verb(ctx, "affected", in.ID)
	c.tell.operator("sandkeeper affected " + in.ID)
	c.tell.operator(console.Plural(len(strings.Fields(ids)), "task") + "; with -o sql it writes what runs them again")
	return err
}

// letGo ends what restoring has begun: the sandbox is wanted no more.
func (c hands) letGo(ctx context.Context) error {
	err := c.requests(ctx, "its user has finished", "unhold", "sandbox:"+c.wanted)
	c.truth.unspare(c.wanted)
	return err
}

// restore takes back the quarantine of the sandbox that is wanted.
func (c hands) restore(ctx context.Context) error {
	c.tell.operator("sandkeeper restore " + c.wanted)
	return c.requests(ctx, "its user was not finished", "restore", c.wanted, "--for", (24 * time.Hour).String())
}

// hands is what the operator of the demo does.
type hands struct{ *script }

func (c *script) hands() hands { return hands{c} }
