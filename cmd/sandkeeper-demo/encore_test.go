package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestEncoreDoesNotPileUp: after the story things break one after the other, also when the
// story was in a hurry, and only once what broke before is repaired.
func TestEncoreDoesNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &script{hurry: true, truth: newTruth(nil)}
		c.encore()
		if len(c.scenes) == 0 {
			t.Fatal("nothing happens after the story")
		}
		for i := range c.scenes {
			if left := c.left(&c.scenes[i]); left < time.Minute {
				t.Errorf("%q comes after %s", c.scenes[i].title, left)
			}
		}
		time.Sleep(time.Hour)
		c.truth.add(affected{incident: incidentOrphan, sandbox: "sb-1"})
		var o reconcile.Overview
		for i := range c.scenes {
			if c.ready(&c.scenes[i], &o) {
				t.Errorf("%q comes while something is broken", c.scenes[i].title)
			}
		}
		v := c.truth.affected[0]
		v.found, v.repaired, v.confirmed = true, true, true
		if !c.ready(&c.scenes[0], &o) {
			t.Error("nothing breaks any more, and all is repaired")
		}
	})
}
