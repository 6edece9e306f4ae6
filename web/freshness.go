package web

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A freshness says whether passes still come.
type freshness struct {
	Never bool          // no pass was ever complete
	Age   time.Duration // of the last complete pass of any kind
	Limit time.Duration // that it may have
	Full  bool          // it is the full pass that is overdue, quick ones still come
}

// ok reports whether a complete pass is recent enough.
func (f freshness) ok() bool { return !f.Never && !f.ahead() && f.Age <= f.Limit }

// ahead reports whether the last pass lies in the future: the ledger's clock was set back,
// and no age says anything.
func (f freshness) ahead() bool { return f.Age < -time.Minute }

// PassesCome reports whether passes are completed as often as the schedule wants. A full one that
// is missing while quick ones come is for the page and the alerts to tell.
func PassesCome(o *reconcile.Overview, quick, full time.Duration) bool {
	f := freshOf(o, quick, full)
	return f.ok() || f.Full
}

// freshOf compares the ages of the last complete passes with the schedule. Where none of
// the newest passes is quick the full ones set the measure: that is a CronJob of `once`.
func freshOf(o *reconcile.Overview, quick, full time.Duration) freshness {
	if o.LastPass.IsZero() {
		return freshness{Never: true}
	}
	every := full
	if quickOnes(o.Passes) {
		every = quick
	}
	f := freshness{Age: o.Now.Sub(o.LastPass), Limit: overdue(every)}
	if of := (freshness{Age: o.Now.Sub(lastFull(o)), Limit: overdue(full), Full: true}); f.ok() && !of.ok() {
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

// overdue is the age at which a pass is missing: three turns of its schedule, and never
// less than a minute.
func overdue(every time.Duration) time.Duration { return max(3*every, time.Minute) }

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
func (f freshness) String() string {
	kind := ""
	if f.Full {
		kind = "full "
	}
	switch {
	case f.Never:
		return "no pass was ever complete"
	case f.ahead():
		return fmt.Sprintf("the last complete %spass is dated %s in the future: the ledger's clock was set back",
			kind, text.Coarse(-f.Age))
	case f.ok():
		return "the last complete pass is " + text.Coarse(f.Age) + " old"
	}
	return fmt.Sprintf("no complete %spass for %s, at most %s are expected", kind, text.Coarse(f.Age),
		text.Coarse(f.Limit))
}
