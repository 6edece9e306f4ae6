package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// orphanRule is the rule whose breaker the story opens.
const orphanRule = "orphan"

// wishes of the operator of the story, who works with the same code as the verbs do.
func wishFor(reason string) *wish { return &wish{author: "ana", reason: reason, last: storyLength} }

// hold keeps sandkeeper's hands off a task.
func (c *script) hold(ctx context.Context, task string) error {
	c.held = task
	said, err := c.keeper.hold(ctx, "task:"+task, wishFor("I am looking into this one"))
	c.tell.operator(said)
	return err
}

func (c *script) liftHold(ctx context.Context) error {
	said, err := c.keeper.unhold(ctx, "task:"+c.held, wishFor("seen enough"))
	c.tell.operator(said)
	return err
}

// release lets the listed subjects pass the open breaker, by the hash of the list.
func (c *script) release(ctx context.Context) error {
	_, listed, err := c.keeper.heldBy(ctx, orphanRule)
	if err != nil {
		return err
	}
	hash := reconcile.SubjectsHash(listed)
	said, err := c.keeper.release(ctx, orphanRule, hash, wishFor("all 40 are from the script of this morning"))
	c.tell.operator("sandkeeper release " + orphanRule + " --hash " + hash)
	c.tell.operator(said)
	return err
}

// victims lists the tasks that the incident of the snapshot has failed.
func (c *script) victims(ctx context.Context) error {
	o, err := c.keeper.ledger.Overview(ctx, most)
	if err != nil {
		return err
	}
	in := c.incidentOf(&o)
	if in == nil {
		return errors.New("demo: the incident of the snapshot is not on record any more")
	}
	var ids bytes.Buffer
	if err := c.keeper.victims(ctx, &ids, "", in.ID); err != nil {
		return err
	}
	c.tell.operator("sandkeeper victims " + in.ID)
	c.tell.operator(plural(strings.Count(ids.String(), "\n"), "task") + "; with -o sql it writes what runs them again")
	return nil
}

// letGo ends what restoring has begun: the sandbox is wanted no more.
func (c *script) letGo(ctx context.Context) error {
	said, err := c.keeper.unhold(ctx, "sandbox:"+c.wanted, wishFor("its user has finished"))
	c.tell.operator(said)
	c.truth.unspare(c.wanted)
	return err
}

// restore takes back the quarantine of the sandbox that is wanted.
func (c *script) restore(ctx context.Context) error {
	by := wishFor("its user was not finished")
	by.last = 24 * time.Hour
	said, err := c.keeper.restore(ctx, c.wanted, by)
	c.tell.operator("sandkeeper restore " + c.wanted)
	for line := range strings.Lines(said) {
		c.tell.operator(strings.TrimSpace(line))
	}
	return err
}
