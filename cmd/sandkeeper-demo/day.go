package main

import (
	"fmt"
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
	incidentMoved    incident = "moved sandboxes say started and do not work"
	incidentHerd     incident = "40 sandboxes at once, held by the breaker"
	incidentKilled   incident = "ignored stops while a replica is killed"

	incidentOutage    incident = "ignored stops at Vercel while it fails"
	incidentElsewhere incident = "ignored stops elsewhere meanwhile"
)

var incidents = []incident{
	incidentOrphan, incidentSnapshot, incidentVanished, incidentSilent, incidentStopped, incidentLeftover,
	incidentRestored, incidentMoved, incidentHerd, incidentKilled, incidentOutage, incidentElsewhere,
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
		{at: at(0, 10), part: "orphan", kind: broke, title: "the platform crashes and leaves 6 sandboxes that no task knows",
			watch: "after 30 s the page shows 6 findings of the rule orphan. Seen twice, the sandboxes are terminated; " +
				"those of the other team stay.",
			act: c.orphan},
		{at: at(0, 55), part: "throttle", kind: broke, title: "Vercel throttles: it answers 429 to every listing",
			watch: "the source listing:vercel is not trusted. What rests on it waits, what rests on the others does not.",
			act:   c.throttle, until: c.waits().calm},
		{at: at(1, 28), part: "throttle", kind: fixed, title: "Vercel answers again",
			act: c.fix, until: c.waits().distrusted("listing:vercel", nil), shown: lookAtIt},
		{at: at(1, 30), part: "snapshot", kind: broke, act: c.expireSnapshot,
			title: "the snapshot " + demoSnapshot + " goes inactive, and 10 users ask for work at once",
			watch: "their tasks, and those of all who ask later, wait for workers that never start. " +
				"They are failed after 30 s each. From the ninth on the page shows one incident instead of many " +
				"findings, with its likely cause: the snapshot."},
		{at: at(2, 20), part: "snapshot", kind: fixed, title: "somebody activates the snapshot again",
			act: c.restoreSnapshot, until: c.waits().explained},
		{at: at(2, 25), part: "snapshot", kind: person, title: "the operator asks for the affected tasks, to retry them",
			act: c.hands().affected, until: c.waits().repaired(incidentSnapshot, 10)},
		{at: at(2, 30), part: "vanish", kind: broke, title: "4 containers vanish under their tasks",
			watch: "rules heartbeat-lost and sandbox-missing. A worker's sign of life outweighs a missing sandbox, " +
				"so the tasks are failed when the last sign is 40 s old, not before.",
			act: c.vanish},
		{at: at(3, 20), part: "silence", kind: broke,
			title: "4 workers die inside living sandboxes; an operator holds one of their tasks",
			watch: "after 40 s of silence 3 tasks are marked failed and their sandboxes terminated. " +
				"The fourth is on hold, with the operator's name and reason.",
			act: c.silence},
		{at: at(4, 10), part: "silence", kind: person, title: "the operator lifts the hold: the fourth task follows",
			act: c.hands().liftHold, until: c.waits().holdKept},
	}
}

// noon: what only pretends to work, and what is too much at once.
func (c *script) noon() []scene {
	return []scene{
		{at: at(4, 20), part: "stops", kind: broke,
			title: "3 people stop their tasks; their providers say yes and do nothing",
			watch: "a bad minute: ignored stops are terminated after 5 s, and broken ones once 3 probes in a row have " +
				"failed. Forgotten sandboxes are quarantined after 30 s: stopped, listed under Actions with the command " +
				"that brings them back, and terminated a minute later.",
			act: c.ignoreStop},
		{at: at(4, 23), part: "stops", kind: broke,
			title: "4 tasks finish, and their sandboxes are forgotten", act: c.forget},
		{at: at(4, 26), part: "stops", kind: broke, act: c.move,
			title: "3 sandboxes move to another machine and say started: exec hangs, exec answers 502, files answer 404"},
		{at: at(5, 5), part: "stops", kind: person, title: "the operator wants one of the quarantined sandboxes back",
			act: c.hands().restore, until: c.waits().asleep},
		{at: at(5, 15), part: "breaker", kind: broke, until: c.waits().awake,
			title: "a script in a loop creates 40 sandboxes that no task knows",
			watch: "40 are more than 10 % of the fleet. The breaker of the rule orphan opens, and nothing is terminated " +
				"until an operator has looked: a wrong label would look just like this.",
			act: c.herd},
		{at: at(6, 20), part: "breaker", kind: person, title: "the operator reads the list and releases exactly these 40",
			act: c.hands().release, until: c.waits().breakerOpen, shown: lookAtIt},
		{at: at(6, 35), part: "replica", kind: person, title: "a second replica is started on the same ledger",
			act: c.startReplica, until: c.waits().calm},
	}
}

// evening: what fails around sandkeeper, and in it.
func (c *script) evening() []scene {
	return []scene{
		{at: at(6, 40), part: "replica", kind: broke,
			title: "more and more stops are ignored, and Daytona takes 2 s to delete each sandbox",
			watch: "both replicas share the work, until one of them is killed in the middle of it. " +
				"The other goes on at once, and takes over what was begun after 15 s.",
			act: c.slowStops},
		{at: at(6, 45), part: "replica", kind: broke, title: "the second replica is killed (SIGKILL) while it ends sandboxes",
			act: c.killReplica, until: c.waits().replicaAtWork},
		{at: at(7, 10), part: "replica", kind: fixed, title: "the other replica has finished what the killed one had begun",
			act: c.tellGap, until: c.waits().calm},
		{at: at(7, 13), part: "stops", kind: person,
			title: "the restored sandbox is not needed any more: the operator lifts its hold",
			act:   c.hands().letGo, until: c.waits().calm},
		{at: at(7, 18), part: "outage", kind: broke, act: c.breakVercel, until: c.waits().calm,
			title: "5 stops are ignored, 2 of them at Vercel, and Vercel's API answers 500",
			watch: "everything at Vercel seems to be gone. The source listing:vercel is not trusted, and what rests on " +
				"it waits: no task is failed for a sandbox that only cannot be seen. The other 3 sandboxes are terminated as " +
				"ever."},
		{at: at(7, 52), part: "outage", kind: fixed,
			title: "Vercel answers again: what waited is looked at, and terminated",
			act:   c.fix, until: c.onlyVercelWaits, shown: lookAtIt},
		{at: at(7, 58), part: "listing", kind: broke, title: "Daytona's listing leaves out more than half of the sandboxes",
			watch: "it answers well, and is not trusted: what it lost is alive when it is asked for by id.",
			act:   c.cutListing},
		{at: at(8, 13), part: "listing", kind: fixed, title: "the listing is whole again",
			act: c.fix, until: c.waits().distrusted("listing:daytona", (*reconcile.SourceSeen).LostSome)},
		{at: at(8, 16), part: "events", kind: broke,
			title: "the pipeline of the workers' events goes down: all seem dead, and none is",
			watch: "after 40 s every worker is silent. That is one broken pipeline and not 250 deaths: " +
				"the source events is frozen, and no task is failed.",
			act: c.silenceAll, until: c.waits().calm},
		{at: at(9, 10), part: "events", kind: fixed,
			title: "the pipeline is back; heartbeat timers restart and are trusted in 40 s",
			act:   c.hearAll, until: c.waits().distrusted("events", nil)},
		{at: at(9, 50), kind: fixed, title: "the day is over", act: nothing, until: c.waits().evenTrusted},
	}
}

// small are the scenes of the encore.
func (c *script) small() []scene {
	return []scene{
		{at: at(1, 0), kind: broke, title: "the platform forgets 6 sandboxes that it just created",
			watch: "6 findings of the rule orphan; the sandboxes are terminated after 30 s.", act: c.orphan},
		{at: at(2, 0), kind: broke, title: "4 more containers vanish under their tasks",
			watch: "rule sandbox-missing, once the last sign of life is 40 s old.", act: c.vanish},
		{at: at(3, 0), kind: broke, title: "3 more stops are ignored",
			watch: "rule stop-ignored, terminated after 5 s.", act: c.ignoreStop},
		{at: at(4, 0), kind: broke, title: "Vercel throttles: it answers 429 to every listing",
			watch: "the source listing:vercel is not trusted; the others are.", act: c.throttle},
		{at: at(4, 35), kind: fixed, title: "Vercel answers again", act: c.fix},
	}
}

// clock is a time of the story, as it is shown.
func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
