// Package fresh tells whether passes still come, by the ages of those that the ledger has on record. It is pure.
package fresh

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Freshness says whether passes still come.
type Freshness struct {
	Never bool          // no pass was ever complete
	Age   time.Duration // of the last complete pass of any kind
	Limit time.Duration // that it may have
	Full  bool          // it is the full pass that is overdue, quick ones still come
}

// OK reports whether a complete pass is recent enough.
func (f Freshness) OK() bool { return !f.Never && !f.Ahead() && f.Age <= f.Limit }

// Ahead reports whether the last pass lies in the future: the ledger's clock was set back,
// and no age says anything.
func (f Freshness) Ahead() bool { return f.Age < -time.Minute }

// PassesCome reports whether passes are completed as often as the schedule wants. A full one that
// is missing while quick ones come is for the page and the alerts to tell.
func PassesCome(o *reconcile.Overview, quick, full time.Duration) bool {
	f := Of(o, quick, full)
	return f.OK() || f.Full
}

// Of compares the ages of the last complete passes with the schedule. Where none of
// the newest passes is quick the full ones set the measure: that is a CronJob of `once`.
func Of(o *reconcile.Overview, quick, full time.Duration) Freshness {
	if o.LastPass.IsZero() {
		return Freshness{Never: true}
	}
	every := full
	if quickOnes(o.Passes) {
		every = quick
	}
	f := Freshness{Age: o.Now.Sub(o.LastPass), Limit: Overdue(every)}
	if of := (Freshness{Age: o.Now.Sub(lastFull(o)), Limit: Overdue(full), Full: true}); f.OK() && !of.OK() {
		return of
	}
	return f
}

// lastFull is the end of the last complete full pass. Where there was none yet it is the
// beginning of all: the first one may still be on its way.
func lastFull(o *reconcile.Overview) time.Time {
	first := o.LastPass
	for _, p := range o.Passes {
		if p.BeganAt.Before(first) {
			first = p.BeganAt
		}
	}
	if !o.LastFull.IsZero() {
		return o.LastFull
	}
	return first
}

// Overdue is the age at which a pass is missing: three turns of its schedule, and never
// less than a minute.
func Overdue(every time.Duration) time.Duration { return max(3*every, time.Minute) }

// quickOnes reports whether one of the five newest passes that ended is quick.
func quickOnes(newest []reconcile.PassSeen) bool {
	seen := 0
	for _, p := range newest {
		if p.EndedAt.IsZero() {
			continue
		}
		if seen++; seen > 5 {
			return false
		}
		if p.Kind == reconcile.Quick {
			return true
		}
	}
	return false
}

// String says what is the matter, for the line of /readyz and the verdict.
func (f Freshness) String() string {
	kind := ""
	if f.Full {
		kind = "full "
	}
	switch {
	case f.Never:
		return "no pass was ever complete"
	case f.Ahead():
		return fmt.Sprintf("the last complete %spass is dated %s in the future: the ledger's clock was set back",
			kind, text.Coarse(-f.Age))
	case f.OK():
		return "the last complete pass is " + text.Coarse(f.Age) + " old"
	}
	return fmt.Sprintf("no complete %spass for %s, at most %s are expected", kind, text.Coarse(f.Age),
		text.Coarse(f.Limit))
}
