package platform

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// early is P5: "No clock that the suspect can wind, and no clock started in another state": what
// a rule acted on has truly lasted for its threshold, by the clock of its domain.
func (w *watch) early(d *effect) string {
	if d.a == nil || d.a.Seq > 0 || d.asked() || d.b != nil && !d.b.there() || d.k != nil && d.k.restored {
		return ""
	}
	lasted, known := w.lasted(d)
	after := d.p.policy.Rules[d.rule()].After
	if d.rule() == "assigned-stale" {
		after = min(after, d.p.policy.Rules["assigned-stale"].Conclusive)
	}
	if d.rule() == "sandbox-missing" && d.k != nil && d.k.box != nil && w.twoStores(d.k.box.ref.Provider) {
		after = 0 // what is in neither of two stores is gone, since when whatever
	}
	if d.rule() == "sandbox-missing" && d.k != nil && d.k.box != nil && w.platform.Records(d.k.box.ref.Provider) {
		after = 0 // its end is on record
	}
	if !known || lasted >= after || w.harm().justNow(d) {
		return ""
	}
	return fmt.Sprintf("%s: it has lasted for %s of %s", d.what(), lasted, after)
}

// twoStores reports whether a get and a listing read two stores there.
func (w *watch) twoStores(provider string) bool {
	c := w.platform.clouds[provider]
	return c != nil && reconcile.CapabilitiesOf(c.provider).TwoStores
}

// lasted is for how long what the deed's rule finds has truly lasted.
func (w *watch) lasted(d *effect) (time.Duration, bool) {
	if d.k != nil && d.write != nil {
		return w.lastedRow(d)
	}
	if !d.ends() || d.b == nil {
		return 0, false
	}
	at := d.b.ref.Provider
	switch d.rule() {
	case "orphan", "duplicate", "over-age":
		return w.age(d.b), true
	case "provisioning-stuck":
		return w.elapsed(at, d.b.since), d.b.state == reconcile.SandboxCreating
	case "errored":
		if lied := w.lied[at]; !lied.IsZero() && d.b.since.Before(lied.Add(lieLasts)) { // and before that it was said
			return 0, false
		}
		return w.elapsed(at, d.b.since), d.b.state == reconcile.SandboxFailed
	case "stop-ignored", "finished-lingering":
		r := w.platform.table.truly(d.ofTask())
		if d.k == nil || r == nil || d.rule() == "finished-lingering" && d.k.box != d.b {
			return 0, false
		}
		return w.elapsed(domainTasks, d.k.entered), true
	}
	return 0, false
}

// age is how old the sandbox truly is, or older if its provider says so: a clock that was set back makes none younger.
func (w *watch) age(b *box) time.Duration { return max(b.age(), w.elapsed(b.ref.Provider, b.born)) }

func (d *effect) ofTask() string {
	if d.k == nil {
		return ""
	}
	return d.k.id
}

// lastedRow is lasted for the rules that write the row.
func (w *watch) lastedRow(d *effect) (time.Duration, bool) {
	switch d.rule() {
	case "assigned-stale":
		return w.elapsed(domainTasks, d.k.handed), true
	case "heartbeat-lost":
		if w.before == nil || w.platform.truth().wound(w.before.Sandbox) {
			return 0, false
		}
		return w.before.AsOf.Sub(w.before.LastSeen()), true
	case "inactive":
		if w.before == nil || w.platform.truth().wound(w.before.Sandbox) {
			return 0, false
		}
		return w.before.AsOf.Sub(w.before.Activity()), true
	case "deadline-exceeded":
		if r := w.before; r != nil && !w.platform.truth().overdue(r) {
			return -1, true
		}
	case "sandbox-missing":
		if w.platform.tenancy.forged[d.k.id].names {
			return 0, false // it names a sandbox that never was its own: by its own word its worker is where that one was
		}
		if b := d.k.box; b != nil && !b.there() {
			lost := cmp.Or(b.lost, b.over)
			if of := d.k.worker(); of != nil && !of.ended.IsZero() && of.ended.Before(lost) {
				lost = of.ended // it came back for a moment, without its worker, and nobody looked
			}
			return w.elapsed(domainLedger, lost), true
		}
	}
	return 0, false
}

// afterOutage is P6: "After an outage of a source the timers of silence and absence start anew. A
// gap of more than two intervals in sandkeeper's own passes restarts what the ledger timed itself."
func (w *watch) afterOutage(d *effect) string {
	switch {
	case d.write != nil && d.rule() == "heartbeat-lost":
		return w.silentAgain(d)
	case d.ends() && d.rule() == "orphan" && d.a.Seq == 0 && d.b.there():
		return w.sighted(d)
	}
	return ""
}

// silentAgain: an outage of all events that passes could notice gives everybody one limit more, but for a worker that
// is truly no more and was looked at in its sandbox: that proof is no silence, and no outage hides it.
func (w *watch) silentAgain(d *effect) string {
	if d.k != nil && d.k.workerGone() && reconcile.IsNotRunning(d.write.Reason) {
		return ""
	}
	if d.k != nil && isEvil(d.k.id) {
		return "" // its tenant's rows go on to show life, which hides the outage from its own tasks alone
	}
	limit := d.p.policy.Rules["heartbeat-lost"].After
	now := w.platform.now()
	for _, o := range w.platform.pipeline.outs {
		if o.part != 0 || o.open() || o.to.After(now) || w.platform.clocks.moved(domainTasks, o.from) > 0 {
			continue
		}
		noticed := slices.ContainsFunc(w.full, func(at time.Time) bool {
			return at.After(o.from.Add(limit+time.Minute)) && at.Before(o.to)
		})
		if noticed && o.many && len(w.platform.truth().running()) >= 3 && now.Sub(o.to) < limit {
			return fmt.Sprintf("%s: the events came back only %s ago", d.what(), now.Sub(o.to))
		}
	}
	return ""
}

// sighted: an orphan was found by as many passes as the rule wants, since the last gap.
func (w *watch) sighted(d *effect) string {
	if c := d.p.claims[d.a.ID]; c != nil && c.at.Before(w.gap) {
		return "" // begun before the gap was known, and looked at again since
	}
	rule := d.p.policy.Rules["orphan"]
	seen := w.sights[reconcile.Ref{Provider: d.Party, ID: d.ID}]
	counted := 0
	var last time.Time
	for _, at := range seen {
		switch {
		case last.IsZero() || at.Sub(last) >= rule.Apart:
			counted, last = counted+1, at
		case at.Before(last):
			last = at // the ledger's clock went back: how long it is since that pass is not known by it
		}
	}
	if counted < rule.Sightings {
		return fmt.Sprintf("%s: %d passes of %d have found it since the last gap", d.what(), counted, rule.Sightings)
	}
	return ""
}

// recorded notes a pass that the ledger has taken down.
func (w *watch) recorded(s *Step) {
	rec, ok := s.Args.(reconcile.Record)
	if s.Call != "Record" || !ok || !s.Effect {
		return
	}
	if w.gapBefore(rec.At) {
		clear(w.sights)
		w.gap = w.platform.now()
	}
	if rec.Complete || readRows(&rec) {
		w.began = append(w.began, rec.At)
	}
	if rec.Complete {
		w.done = append(w.done, w.platform.clocks.of(domainLedger))
	}
	if rec.Kind == reconcile.Full && rec.Complete {
		w.full = append(w.full, w.platform.now())
	}
	for i := range rec.Findings {
		if f := &rec.Findings[i]; f.Rule == "orphan" {
			ref := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
			w.sights[ref] = append(w.sights[ref], rec.At)
		}
	}
}

// readRows reports whether a pass has read the task table. One that a listing failed in has looked at all other
// providers, and the failed listing has a timer of its own.
func readRows(rec *reconcile.Record) bool {
	return slices.ContainsFunc(rec.Sources, func(s reconcile.SourceSeen) bool {
		return s.Name == reconcile.SourceTasks && s.Trusted
	})
}

// gapBefore reports whether nobody looked for more than two intervals: the longer of the
// schedule and of what the last five gaps were in practice.
func (w *watch) gapBefore(at time.Time) bool {
	n := len(w.began)
	if n == 0 {
		return false
	}
	var gaps []time.Duration
	for i := max(1, n-5); i < n; i++ {
		gaps = append(gaps, w.began[i].Sub(w.began[i-1]))
	}
	slices.Sort(gaps)
	interval := w.platform.policy.Full
	if len(gaps) > 0 {
		interval = max(interval, gaps[len(gaps)/2])
	}
	// Both ends of a gap are measured a little differently here, so a small one is not counted.
	return at.Sub(w.began[n-1]) > 2*interval+time.Minute
}
