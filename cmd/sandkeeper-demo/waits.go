package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func nothing(context.Context) error { return nil }

// calm: all that broke so far is repaired.
func (c waits) calm(*reconcile.Overview) bool { return c.truth.settled() }

// repaired: an incident has struck, and at least so many of what it broke are repaired.
func (c waits) repaired(which incident, least int) func(*reconcile.Overview) bool {
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
func (c waits) explained(o *reconcile.Overview) bool { return c.incidentOf(o) != nil }

// incidentOf is the incident of the snapshot.
func (c waits) incidentOf(o *reconcile.Overview) *reconcile.Incident {
	for i := range o.Incidents {
		if in := &o.Incidents[i]; in.Rule == "assigned-stale" && strings.Contains(in.Cause, demoSnapshot) {
			return in
		}
	}
	return nil
}

// asleep: the sandbox that the operator wants back is in quarantine.
func (c waits) asleep(o *reconcile.Overview) bool {
	waits := reconcile.QuarantinedActions(o.Open, o.Now)
	for i := range o.Open {
		if a := &o.Open[i]; a.Sandbox == c.wanted && waits[a.ID] {
			return true
		}
	}
	return false
}

// awake: it is back, if there is one.
func (c waits) awake(*reconcile.Overview) bool {
	return c.wanted == "" || c.repaired(incidentRestored, 1)(nil)
}

// holdKept: the held task is due and held, and the others of its incident are repaired.
func (c waits) holdKept(o *reconcile.Overview) bool {
	for _, v := range c.truth.all() {
		if v.incident == incidentSilent && v.task != c.held && !v.repaired {
			return false
		}
	}
	for i := range o.Findings {
		f := &o.Findings[i]
		if _, held := f.HeldBy.Of(reconcile.HeldHold); held && f.Task == c.held && f.Due {
			return true
		}
	}
	return false
}

// breakerOpen: the breaker holds all that is left of the herd.
func (c waits) breakerOpen(o *reconcile.Overview) bool {
	left := 0
	for _, v := range c.truth.all() {
		if v.incident == incidentHerd && !v.repaired {
			left++
		}
	}
	return left > 0 && len(o.Controls.Breakers[orphanRule].Subjects) == left
}

// replicaAtWork: the replica carries out at least one action right now.
func (c waits) replicaAtWork(o *reconcile.Overview) bool {
	for i := range o.Open {
		if c.replica.holds(o.Open[i].ClaimedBy) {
			return true
		}
	}
	return false
}

// distrusted: a source is not trusted, for a reason like this.
func (c waits) distrusted(source string, like func(*reconcile.SourceSeen) bool) func(*reconcile.Overview) bool {
	return func(o *reconcile.Overview) bool {
		for i := range o.Sources {
			if s := &o.Sources[i]; s.Name == source {
				return !s.Trusted && (like == nil || like(s))
			}
		}
		return false
	}
}

// evenTrusted: every source is trusted again. A story in a hurry does not wait for it.
func (c waits) evenTrusted(o *reconcile.Overview) bool {
	for _, s := range o.Sources {
		if !s.Trusted && !c.hurry {
			return false
		}
	}
	return true
}

// lacking is what has not become of what broke yet: the first thing, what holds it, and how many more.
func (c waits) lacking(o *reconcile.Overview) string {
	open := c.truth.unfinished()
	if len(open) == 0 {
		return c.doubted(o)
	}
	out := c.wanting(open[0])
	for i := range o.Findings {
		f := &o.Findings[i]
		if len(f.HeldBy) > 0 && (f.Sandbox != "" && f.Sandbox == open[0].sandbox || f.Task != "" && f.Task == open[0].task) {
			out += "; on hold: " + text.Clip(f.HeldBy.String(), width)
			break
		}
	}
	if more := len(open) - 1; more > 0 {
		out += fmt.Sprintf("; and %d more", more)
	}
	return out
}

// wanting says what has to become of one thing.
func (c waits) wanting(v affected) string {
	if p := c.stage.home(v.sandbox); p != nil {
		return fmt.Sprintf("sandbox %s at %s to be terminated", v.sandbox, p.title)
	}
	return "task " + v.task + " to be marked failed"
}

// doubted names the sources that are not trusted, where nothing else is missing.
func (c waits) doubted(o *reconcile.Overview) string {
	for _, s := range o.Sources {
		if !s.Trusted {
			return s.Name + " to be trusted: " + text.Clip(s.Reason.String(), width)
		}
	}
	return "sandkeeper to notice what just happened (is something paused, or the machine busy?)"
}

// waits is what a script waits for.
type waits struct{ *script }

func (c *script) waits() waits { return waits{c} }
