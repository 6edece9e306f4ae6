package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An incident is one kind of thing that breaks, as the summary names it.
type incident string

// The incidents of the story, in the order of the summary.
const (
	incidentOrphan   incident = "sandboxes that no task knows"
	incidentSnapshot incident = "snapshot inactive, tasks hang in assigned"
	incidentVanished incident = "containers vanish under their tasks"
	incidentSilent   incident = "workers die inside living sandboxes"
	incidentStopped  incident = "stops that the provider ignores"
	incidentLeftover incident = "sandboxes left behind by finished tasks"
	incidentRestored incident = "one of them quarantined and restored"
	incidentResumed  incident = "resumed sandboxes say started and do not work"
	incidentHerd     incident = "40 sandboxes at once, held by the breaker"
	incidentKilled   incident = "ignored stops while a replica is killed"
)

var incidents = []incident{
	incidentOrphan, incidentSnapshot, incidentVanished, incidentSilent, incidentStopped, incidentLeftover,
	incidentRestored, incidentResumed, incidentHerd, incidentKilled,
}

// at is a time of the story.
func at(minutes, seconds int) time.Duration {
	return time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
}

// day are the scenes of the story: ten minutes.
func (c *script) day() []scene {
	return append(append(c.morning(), c.noon()...), c.evening()...)
}

// morning: what leaks and what dies.
func (c *script) morning() []scene {
	return []scene{
		{at: at(0, 25), kind: broke, title: "the platform crashes and leaves 6 sandboxes that no task knows",
			watch: "after 30 s the page shows 6 findings of the rule orphan. Seen twice, the sandboxes are ended; " +
				"those of the other team stay.",
			act: c.orphan},
		{at: at(1, 15), kind: broke, act: c.expireSnapshot,
			title: "the snapshot " + demoSnapshot + " goes inactive, and 10 users ask for work at once",
			watch: "their tasks, and those of all who ask later, wait for workers that never start. " +
				"They are failed after 30 s each. From the ninth on the page shows one incident instead of many " +
				"findings, with its probable cause: the snapshot."},
		{at: at(2, 5), kind: mended, title: "somebody activates the snapshot again",
			act: c.restoreSnapshot, until: c.explained},
		{at: at(2, 10), kind: person, title: "the operator asks for the incident's victims, to run them again",
			act: c.victims, until: c.repaired(incidentSnapshot, 10)},
		{at: at(2, 15), kind: broke, title: "4 containers vanish under their tasks",
			watch: "rules heartbeat-lost and sandbox-missing. A worker's sign of life outweighs a missing sandbox, " +
				"so the tasks are failed when the last sign is 40 s old, not before.",
			act: c.vanish},
		{at: at(3, 5), kind: broke, title: "4 workers die inside living sandboxes; an operator holds one of their tasks",
			watch: "after 40 s of silence 3 tasks are failed and their sandboxes ended. " +
				"The fourth is held: hands off, with the operator's name and reason.",
			act: c.silence},
		{at: at(4, 0), kind: person, title: "the operator lifts the hold: the fourth task follows",
			act: c.liftHold, until: c.holdKept},
	}
}

// noon: what only pretends to work, and what is too much at once.
func (c *script) noon() []scene {
	return []scene{
		{at: at(4, 15), kind: broke, title: "3 people stop their tasks; the provider says yes and does nothing",
			watch: "a bad minute: ignored stops are ended after 5 s, and broken ones once 3 probes in a row have " +
				"failed. Forgotten sandboxes are quarantined after 30 s: stopped, listed under Actions with the command " +
				"that brings them back, and ended a minute later.",
			act: c.ignoreStop},
		{at: at(4, 18), kind: broke, title: "4 tasks finish, and their sandboxes are forgotten", act: c.forget},
		{at: at(4, 21), kind: broke, act: c.resume,
			title: "3 sandboxes are resumed and say started: exec hangs, exec answers 502, files answer 404"},
		{at: at(5, 0), kind: person, title: "the operator wants one of the quarantined sandboxes back",
			act: c.restore, until: c.asleep},
		{at: at(5, 10), kind: broke, until: c.awake, title: "a script in a loop creates 40 sandboxes that no task knows",
			watch: "40 are more than 10 % of the fleet. The breaker of the rule orphan opens, and nothing is ended " +
				"until a person has looked: a wrong label would look just like this.",
			act: c.herd},
		{at: at(6, 0), kind: person, title: "the operator reads the list and releases exactly these 40",
			act: c.release, until: c.breakerOpen},
		{at: at(6, 20), kind: person, title: "a second replica is started on the same ledger",
			act: c.startReplica, until: c.calm},
	}
}

// evening: what fails around sandkeeper, and in it.
func (c *script) evening() []scene {
	return []scene{
		{at: at(6, 30), kind: broke, title: "more and more stops are ignored, and Daytona takes 2 s to delete each sandbox",
			watch: "both replicas share the work, until one of them is killed in the middle of it. " +
				"The other goes on at once, and takes over what was begun after 15 s.",
			act: c.slowStops},
		{at: at(6, 35), kind: broke, title: "the second replica is killed (SIGKILL) while it ends sandboxes",
			act: c.killReplica, until: c.replicaAtWork},
		{at: at(7, 5), kind: mended, title: "the other replica has finished what the killed one had begun",
			act: c.tellGap, until: c.calm},
		{at: at(7, 10), kind: person, title: "the restored sandbox is not needed any more: the operator lifts its hold",
			act: c.letGo, until: c.calm},
		{at: at(7, 20), kind: broke, title: "Daytona's listing answers 500: every sandbox seems to be gone",
			watch: "the source listing:daytona is not trusted. What rests on it is frozen, " +
				"and no task is failed for a sandbox that only cannot be seen.",
			act: c.breakListing, until: c.calm},
		{at: at(7, 40), kind: broke, title: "the listing answers again, and leaves out more than half of the sandboxes",
			watch: "it stays frozen: sandboxes that the listing lost are alive when they are asked for by their ids.",
			act:   c.cutListing, until: c.distrusted("listing:daytona", "")},
		{at: at(8, 0), kind: mended, title: "the listing is whole again",
			act: c.mendListing, until: c.distrusted("listing:daytona", " lost ")},
		{at: at(8, 10), kind: broke, title: "the pipeline of the workers' events goes down: all seem dead, and none is",
			watch: "after 40 s every worker is silent. That is one broken pipeline and not 250 deaths: " +
				"the source events is frozen, and nobody is failed.",
			act: c.silenceAll, until: c.calm},
		{at: at(9, 5), kind: mended, title: "the pipeline is back; silence counts anew for 40 s before it is trusted",
			act: c.hearAll, until: c.distrusted("events", "")},
		{at: at(9, 50), kind: mended, title: "the day is over", act: nothing, until: c.evenTrusted},
	}
}

// small are the scenes of the encore.
func (c *script) small() []scene {
	return []scene{
		{at: at(1, 0), kind: broke, title: "the platform forgets 6 sandboxes that it just created",
			watch: "6 findings of the rule orphan; the sandboxes are ended after 30 s.", act: c.orphan},
		{at: at(2, 0), kind: broke, title: "4 more containers vanish under their tasks",
			watch: "rule sandbox-missing, once the last sign of life is 40 s old.", act: c.vanish},
		{at: at(3, 0), kind: broke, title: "3 more stops are ignored",
			watch: "rule stop-ignored, ended after 5 s.", act: c.ignoreStop},
	}
}

func nothing(context.Context) error { return nil }

// calm: all that broke so far is repaired.
func (c *script) calm(*reconcile.Overview) bool { return c.truth.settled() }

// repaired: an incident has struck, and at least so many of what it broke are repaired.
func (c *script) repaired(which incident, least int) func(*reconcile.Overview) bool {
	return func(*reconcile.Overview) bool {
		n := 0
		for _, v := range c.truth.all() {
			if v.incident == which && v.repaired && v.confirmed {
				n++
			}
		}
		return n >= least
	}
}

// explained: the failures are one incident by now, and the snapshot is named as their cause.
func (c *script) explained(o *reconcile.Overview) bool { return c.incidentOf(o) != nil }

// incidentOf is the incident of the snapshot.
func (c *script) incidentOf(o *reconcile.Overview) *reconcile.Incident {
	for i := range o.Incidents {
		if in := &o.Incidents[i]; in.Rule == "assigned-stale" && strings.Contains(in.Cause, demoSnapshot) {
			return in
		}
	}
	return nil
}

// asleep: the sandbox that the operator wants back is in quarantine.
func (c *script) asleep(o *reconcile.Overview) bool {
	waits := reconcile.Asleep(o.Open, o.Now)
	for i := range o.Open {
		if a := &o.Open[i]; a.Sandbox == c.wanted && waits[a.ID] {
			return true
		}
	}
	return false
}

// awake: it is back.
func (c *script) awake(*reconcile.Overview) bool { return c.repaired(incidentRestored, 1)(nil) }

// holdKept: the held task is due and held, and the others of its incident are repaired.
func (c *script) holdKept(o *reconcile.Overview) bool {
	for _, v := range c.truth.all() {
		if v.incident == incidentSilent && v.task != c.held && !v.repaired {
			return false
		}
	}
	for i := range o.Findings {
		f := &o.Findings[i]
		if f.Task == c.held && f.Due && strings.Contains(strings.Join(f.HeldBy, "; "), "hold: ") {
			return true
		}
	}
	return false
}

// breakerOpen: the breaker holds all that is left of the herd.
func (c *script) breakerOpen(o *reconcile.Overview) bool {
	left := 0
	for _, v := range c.truth.all() {
		if v.incident == incidentHerd && !v.repaired {
			left++
		}
	}
	return left > 0 && len(o.Controls.Breakers[orphanRule].Subjects) == left
}

// replicaAtWork: the replica carries out at least one action right now.
func (c *script) replicaAtWork(o *reconcile.Overview) bool {
	for i := range o.Open {
		if c.replica.holds(o.Open[i].ClaimedBy) {
			return true
		}
	}
	return false
}

// distrusted: a source is not trusted, for a reason with these words.
func (c *script) distrusted(source, words string) func(*reconcile.Overview) bool {
	return func(o *reconcile.Overview) bool {
		for _, s := range o.Sources {
			if s.Name == source {
				return !s.Trusted && strings.Contains(s.Reason, words)
			}
		}
		return false
	}
}

// evenTrusted: every source is trusted again. A story in a hurry does not wait for it.
func (c *script) evenTrusted(o *reconcile.Overview) bool {
	for _, s := range o.Sources {
		if !s.Trusted && !c.hurry {
			return false
		}
	}
	return true
}

// clock is a time of the story, as it is shown.
func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
