package main

import (
	"context"

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
