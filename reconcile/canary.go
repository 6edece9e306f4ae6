package reconcile

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// CanaryLabel is what a sandbox carries that sandkeeper made itself to be found.
const CanaryLabel = "sandkeeper-canary"

// CanaryRule is the rule that must find a canary.
const CanaryRule = "orphan"

// A Canary is a planted fault: a sandbox that sandkeeper makes and that no task explains. The rule orphan must find it,
// and end it by the same ruling and the same budgets as any leak.
type Canary struct {
	ID, Provider string
	Name         string // of its sandbox
	Sandbox      string // its id; "" until the provider told it, or a listing showed it
	Error        string // why it could not be made

	PlantedAt time.Time
	FoundAt   time.Time // the first finding of it
	JudgedAt  time.Time // a pass planned its end
	ActedAt   time.Time // the provider was asked to end it
	GoneAt    time.Time // it was confirmed to be gone
	GoneByUs  bool
}

// CanaryPolicy is when a fault is planted, and in what time it must be caught. The zero value plants none.
type CanaryPolicy struct {
	Provider, Template string
	Every, Within      time.Duration
	PerDay             int
}

// On reports whether faults are planted.
func (p CanaryPolicy) On() bool { return p.Every > 0 }

// unmade reports whether there never was a sandbox.
func (c *Canary) unmade() bool { return c.Error != "" && c.Sandbox == "" }

// Over reports whether nothing of it is left: it is gone, or there never was a sandbox.
func (c *Canary) Over() bool { return !c.GoneAt.IsZero() || c.unmade() }

// Caught reports whether it was found and ended by us.
func (c *Canary) Caught() bool { return !c.GoneAt.IsZero() && c.GoneByUs }

// Took is how long it took from planting to the confirmed end, or until now.
func (c *Canary) Took(now time.Time) time.Duration {
	if !c.GoneAt.IsZero() {
		now = c.GoneAt
	}
	return max(now.Sub(c.PlantedAt), 0)
}

// Late reports whether it was not caught in its time. One that could not be made is none.
func (c *Canary) Late(now time.Time, within time.Duration) bool {
	return !c.unmade() && c.Took(now) > within
}

// A CanaryStage is one step on the way of a canary, and how long it took.
type CanaryStage struct {
	Name string
	Took time.Duration
}

// Stages are the steps that are behind it.
func (c *Canary) Stages() (out []CanaryStage) {
	from := c.PlantedAt
	for _, s := range []struct {
		name string
		at   time.Time
	}{{"detection", c.FoundAt}, {"judgement", c.JudgedAt}, {"termination", c.ActedAt}, {"confirmation", c.GoneAt}} {
		if s.at.IsZero() || s.name == "confirmation" && !c.GoneByUs {
			break
		}
		out = append(out, CanaryStage{s.name, max(s.at.Sub(from), 0)})
		from = s.at
	}
	return out
}

// Line says in one sentence what became of it.
func (c *Canary) Line(now time.Time, within time.Duration) string {
	took := text.Duration(c.Took(now))
	var steps []string
	for _, s := range c.Stages() {
		steps = append(steps, s.Name+" "+text.Duration(s.Took))
	}
	switch {
	case c.unmade():
		return "could not be made: " + c.Error
	case c.Caught() && c.Late(now, within):
		return "caught late, after " + took + " of " + text.Duration(within) + ": " + strings.Join(steps, ", ")
	case c.Caught():
		return "caught in " + took + " of " + text.Duration(within) + ": " + strings.Join(steps, ", ")
	case !c.GoneAt.IsZero():
		return "it went after " + took + ", and not by sandkeeper"
	case c.Late(now, within):
		return Joined("not caught: planted "+took+" ago, within "+text.Duration(within)+" it was to be gone",
			strings.Join(steps, ", "))
	}
	return Joined("planted "+took+" ago", strings.Join(steps, ", "))
}

// MostCanaries is how many of the newest are remembered: those of a day and more.
const MostCanaries = 50

// CanaryOf is the canary that a sandbox is; nil when it is none. Its label alone proves nothing: the ledger must know
// of it, by the id that the provider told or by the name that it was made with.
func (m *Memory) CanaryOf(b *Sandbox) *Canary {
	if !b.Canary || !b.Ours() {
		return nil
	}
	for i := range m.Canaries {
		c := &m.Canaries[i]
		if c.Provider != b.Provider {
			continue
		}
		//guard:canary-known P9
		if c.Sandbox == b.ID || c.Sandbox == "" && c.Name != "" && c.Name == b.Name {
			return c
		}
	}
	return nil
}
