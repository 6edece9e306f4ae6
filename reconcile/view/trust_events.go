package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A silence is a running task whose worker has not been heard for longer than the limit.
type silence struct {
	last     time.Time // task database's clock
	answered bool      // its sandbox has answered a probe since
}

// assessEvents: when everybody falls silent at once, the pipeline is down and nobody is
// dead. After it came back, one full heartbeat limit passes before silence counts again.
func (v *View) assessEvents(subs []reconcile.Subject) {
	if v.P.Tasks.None || !v.P.Tasks.Events && !v.P.Tasks.Heartbeats {
		return
	}
	v.trustAgain(reconcile.SourceEvents, v.distrustEvents(subs), v.Limit, "events are back; heartbeat timers restarted")
	seen := v.Sources[reconcile.SourceEvents]
	seen.Beat = v.measuredBeat()
	v.Sources[reconcile.SourceEvents] = seen
}

// trustAgain records this pass's verdict on a source of signs of life. After it came back it is
// trusted when one whole limit has passed: those who were silent meanwhile have to have had
// the time to be heard.
func (v *View) trustAgain(name, why string, limit time.Duration, back string) {
	before, known := v.S.Memory.Sources[name]
	if why != "" || !known || before.Trusted {
		v.trust(name, why)
		if seen := v.Sources[name]; why != "" {
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
		before.Reason = fmt.Sprintf("%s, trusted again in %s", back, text.Duration(left.Round(time.Second)))
		v.Sources[name] = before
		return
	}
	recovered := before.RecoveredAt
	v.trust(name, "")
	seen := v.Sources[name]
	seen.RecoveredAt = recovered
	v.Sources[name] = seen
}

func (v *View) distrustEvents(subs []reconcile.Subject) string {
	var newest, asOf time.Time
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
	//guard:events-set-ahead harm
	if ahead := v.clockSetAhead(); ahead > 0 {
		return fmt.Sprintf("the task database's clock was set ahead by %s", text.Duration(ahead))
	}
	//guard:events-out harm
	if v.Running >= 3 && asOf.Sub(newest) > v.Limit {
		return fmt.Sprintf("%d tasks run and none was heard for %s: the event pipeline is down",
			v.Running, heardFor(asOf, newest))
	}
	return v.distrustTogether(silent)
}

func heardFor(asOf, newest time.Time) string {
	if newest.IsZero() {
		return "ever"
	}
	return text.Duration(asOf.Sub(newest))
}

func (v *View) silence(s *reconcile.Subject) silence {
	out := silence{last: v.Sign(s.Task)}
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
func (v *View) distrustTogether(silent []silence) string {
	slices.SortFunc(silent, func(a, b silence) int { return a.last.Compare(b.last) })
	why := ""
	for from := range silent {
		answered := 0
		for _, s := range silent[from:] {
			if s.last.Sub(silent[from].last) > v.Limit {
				break
			}
			if s.answered {
				answered++
			}
		}
		//guard:events-part harm
		if answered >= 3 && answered*3 >= v.Running {
			why = fmt.Sprintf("%d of %d running tasks fell silent together while their sandboxes answer: "+
				"the event pipeline lost a part", answered, v.Running)
		}
	}
	return why
}
