package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A silence is a running task whose worker has not been heard for longer than the limit.
type silence struct {
	last     time.Time // task database's clock
	answered bool      // its sandbox has answered a probe since
	tenant   string
}

// assessEvents: when everybody falls silent at once, the pipeline is down and nobody is
// dead. After it came back, one full heartbeat limit passes before silence counts again. Where no
// signs of life are mapped, a clock that was set ahead is all that there is to doubt: what was stamped
// before looks older than it is.
func (v assessor) assessEvents(subs []reconcile.Subject) {
	var why reconcile.Distrust
	var parts map[string]reconcile.Distrust
	_, known := v.S.Memory.Sources[reconcile.SourceEvents]
	switch ahead := v.listener().clockSetAhead(); {
	case v.P.Tasks.None:
		return
	//guard:events-set-ahead harm
	case ahead > 0:
		why = said("the task database's clock was set ahead by %s", text.Duration(ahead))
	case v.P.Tasks.Events || v.P.Tasks.Heartbeats:
		why, parts = v.distrustEvents(subs)
	case !known:
		return
	}
	const back = "events are back; heartbeat timers restarted"
	v.trustAgain(reconcile.SourceEvents, why, v.Limit, back)
	for name := range v.S.Memory.Sources {
		if of, tenant := reconcile.SourceTenant(name); of == reconcile.SourceEvents && tenant != "" && parts[name].None() {
			v.trustAgain(name, reconcile.Distrust{}, v.Limit, back)
		}
	}
	for name, why := range parts {
		v.trustAgain(name, why, v.Limit, back)
	}
	seen := v.Sources[reconcile.SourceEvents]
	seen.Beat = v.listener().measuredBeat()
	v.Sources[reconcile.SourceEvents] = seen
}

// trustAgain records this pass's verdict on a source of signs of life. After it came back it is
// trusted when one whole limit has passed: those who were silent meanwhile have to have had
// the time to be heard.
func (v assessor) trustAgain(name string, why reconcile.Distrust, limit time.Duration, back string) {
	before, known := v.S.Memory.Sources[name]
	if !why.None() || !known || before.Trusted {
		v.trust(name, why)
		if seen := v.Sources[name]; !why.None() {
			seen.RecoveredAt = time.Time{} // what came back for a moment has to come back again
			v.Sources[name] = seen
		}
		return
	}
	if before.RecoveredAt.Before(before.Since) { // the first pass that sees it back
		before.RecoveredAt = v.Now
	}
	//guard:trust-again P6
	if left := limit - v.Now.Sub(before.RecoveredAt); left > 0 {
		before.Reason = said("%s, trusted again in %s", back, text.Duration(left.Round(time.Second)))
		v.Sources[name] = before
		return
	}
	recovered := before.RecoveredAt
	v.believe(name)
	seen := v.Sources[name]
	seen.RecoveredAt = recovered
	v.Sources[name] = seen
}

// distrustEvents is why the events are not trusted, as a whole or of some tenants.
func (v assessor) distrustEvents(subs []reconcile.Subject) (whole reconcile.Distrust,
	parts map[string]reconcile.Distrust,
) {
	newest, asOf := v.S.Plain.Newest, v.S.Plain.AsOf
	var silent []silence
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || s.LinkState != reconcile.LinkLive || s.Task.State != reconcile.TaskRunning {
			continue
		}
		asOf = s.Task.AsOf
		newest = reconcile.Latest(newest, v.Sign(s.Task))
		if _, alive := v.Alive(s.Task); !alive && !s.Task.LastSeen().IsZero() {
			silent = append(silent, v.silence(s))
		}
	}
	//guard:events-out harm
	if v.Running >= 3 && asOf.Sub(newest) > v.Limit {
		return said("%d tasks run and none was heard for %s: the event pipeline is down",
			v.Running, heardFor(asOf, newest)), nil
	}
	return v.distrustTogether(silent)
}

func heardFor(asOf, newest time.Time) string {
	if newest.IsZero() {
		return "ever"
	}
	return text.Duration(asOf.Sub(newest))
}

func (v assessor) silence(s *reconcile.Subject) silence {
	out := silence{last: v.Sign(s.Task), tenant: s.Task.Tenant}
	quiet := s.Task.AsOf.Sub(out.last)
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != reconcile.SandboxRunning || v.P.Providers[b.Provider].Probe.Off {
			continue
		}
		p := b.Probes.Last
		out.answered = out.answered || p.Outcome == reconcile.Answered && v.Now.Sub(p.At) < quiet
	}
	if worker, _ := v.WorkerSeen(s); worker == reconcile.WorkerDead {
		out.answered = false // it has fallen silent for good: no pipeline lost its signs
	}
	return out
}

// distrustTogether: many that fell silent within one limit of each other, while their
// sandboxes answer, were silenced by one cause.
func (v assessor) distrustTogether(silent []silence) (whole reconcile.Distrust, parts map[string]reconcile.Distrust) {
	slices.SortFunc(silent, func(a, b silence) int { return a.last.Compare(b.last) })
	parts = map[string]reconcile.Distrust{}
	for from := range silent {
		together := doubt{v.runningBy(), thirdOfThree, lostEvents, true}
		for _, s := range silent[from:] {
			if s.last.Sub(silent[from].last) > v.Limit {
				break
			}
			if s.answered {
				together.tallies[s.tenant] = together.tallies[s.tenant].plus(tally{against: 1})
			}
		}
		//guard:events-part harm
		if !together.is(together.sum()) {
			continue
		}
		blamed := together.blames()
		for _, tenant := range blamed {
			part := reconcile.OfTenant(reconcile.SourceEvents, tenant)
			parts[part] = cmp.Or(parts[part], lostEvents(together.tallies[tenant]))
		}
		if len(blamed) == 0 {
			whole = lostEvents(together.sum())
		}
	}
	return whole, parts
}

// runningBy are the running tasks of each tenant.
func (v assessor) runningBy() tallies {
	if !v.P.Tasks.Tenants {
		return tallies{"": {of: v.Running}}
	}
	out := tallies{}
	for i := range v.S.Tasks {
		if t := &v.S.Tasks[i]; t.State == reconcile.TaskRunning {
			out.add(t.Tenant, false)
		}
	}
	return out
}

func thirdOfThree(t tally) bool { return t.against >= 3 && t.against*3 >= t.of }

func lostEvents(t tally) reconcile.Distrust {
	return said("%d of %d running tasks fell silent together while their sandboxes answer: "+
		"the event pipeline lost a part", t.against, t.of)
}
