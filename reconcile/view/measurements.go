package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Wanted are the measurements of the box that count, oldest first: not from before an outage
// of the probes or soon after a resume, and only while the newest is of now.
func (v *signs) Wanted(b *reconcile.SeenSandbox, counts func(*reconcile.Measurements) bool) []reconcile.Measurements {
	from := reconcile.Latest(v.Sources[reconcile.ProbesOf(b.Provider)].RecoveredAt, v.S.Memory.WatchSince)
	if !b.Seen().ResumedAt.IsZero() {
		//guard:vitals-resumed harm
		from = reconcile.Latest(from, b.Seen().ResumedAt.Add(reconcile.ResumeGrace))
	}
	var run []reconcile.Measurements
	for i := range b.Probes.Measurements {
		//guard:vitals-recovered P6
		if m := &b.Probes.Measurements[i]; !m.At.Before(from) && counts(m) {
			run = append(run, *m)
		}
	}
	//guard:vitals-of-now harm
	if n := len(run); n == 0 || v.Now.Sub(run[n-1].At) > max(3*v.P.Providers[b.Provider].Probe.Every, 5*time.Minute) {
		return nil
	}
	return run
}

// Trailing is the end of the run for which all hold.
func Trailing(run []reconcile.Measurements, holds func(*reconcile.Measurements) bool) []reconcile.Measurements {
	at := len(run)
	for at > 0 && holds(&run[at-1]) {
		at--
	}
	return run[at:]
}

// ActiveSince reports whether the worker of a live task showed activity after a moment of
// the ledger's clock.
func (v *signs) ActiveSince(s *reconcile.Subject, at time.Time) bool {
	if s.Task == nil || s.LinkState != reconcile.LinkLive {
		return false
	}
	act := s.Task.Activity()
	if TaskAhead(s.Task) {
		act = v.Sign(s.Task)
	}
	return !act.IsZero() && s.Task.AsOf.Sub(act) < v.Now.Sub(at)
}
