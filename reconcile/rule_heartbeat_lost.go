package reconcile

import (
	"fmt"
	"time"
)

// heartbeatLost finds a running task whose worker, that did send signs of life, has been
// silent for longer than three heartbeats. With fewer than three running tasks a dead
// worker cannot be told from a dead pipeline, so a failed probe must agree.
func heartbeatLost(v *view, s *Subject) answer {
	t := s.Task
	if t == nil || s.Fate != FateLive || t.State != TaskRunning || t.LifeSign().IsZero() {
		return answer{}
	}
	if !v.beats {
		return answer{} // nobody sends heartbeats here: silence says nothing
	}
	sign := v.sign(t)
	limit := max(v.threshold("heartbeat-lost", s), v.limit)
	ran, _ := v.stateAge(s) // a sign of an earlier attempt does not time this one's silence
	quiet := min(v.silentFor(t), ran, v.observed(sourceEvents, sourceTasks))
	if quiet <= limit {
		if all := t.AsOf.Sub(sign); all > limit {
			return answer{kept: fmt.Sprintf("silent for %s, of which only %s count: others were not heard either, "+
				"a source was out, or it has not run for longer", short(all), short(quiet))}
		}
		return answer{}
	}
	if s.hasBox(func(b *Box) bool { return b.Here && b.State == SandboxSuspended }) {
		return answer{kept: fmt.Sprintf("silent for %s, its sandbox is %s", short(quiet), v.state(s))}
	}
	if b := s.comingUp(); b != nil {
		return answer{kept: fmt.Sprintf("silent for %s, but its sandbox %s is %s", short(quiet), b.ID, b.Raw)}
	}
	if v.unproven[t.ID] {
		return answer{probe: true, kept: fmt.Sprintf(
			"silent for %s, together with others: its sandbox is probed first", short(quiet))}
	}
	failed, probed := v.probedBroken(s)
	if v.running < 3 && !failed {
		return answer{probe: true, kept: fmt.Sprintf(
			"silent for %s, but fewer than 3 tasks run and no probe of its sandbox has failed", short(quiet))}
	}
	return answer{
		found: true, due: true, probe: true,
		reason: joined(fmt.Sprintf("worker fell silent: last life sign %s, %s ago, limit %s",
			stamp(t.LifeSign()), short(t.AsOf.Sub(sign)), short(limit)), v.state(s), probed),
		evidence: []Evidence{
			{Source: "events", At: t.LifeSign(), Fact: "newest life sign of this worker"},
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, %d tasks run", t.Status, v.running)},
			{Source: "providers", At: v.now, Fact: joined(v.state(s), probed)},
		},
	}
}

// silentFor is how long the worker has been silent while others were heard. When nobody
// was heard for a whole heartbeat, silence after the newest sign of all is the pipeline's:
// when that stops, the one who spoke earliest must not be taken for dead before the freeze
// can know.
func (v *view) silentFor(t *Task) time.Duration {
	if v.running < 3 || t.AsOf.Sub(v.newest) <= v.limit/3 {
		return t.AsOf.Sub(v.sign(t))
	}
	return v.newest.Sub(v.sign(t))
}

// probedBroken reports whether the newest probe since the silence began failed, in words. A
// failure that every sandbox shares is the provider's.
func (v *view) probedBroken(s *Subject) (bool, string) {
	for _, b := range s.Boxes {
		last := b.Probes.verdict()
		if last.At.IsZero() || v.now.Sub(last.At) > s.Task.AsOf.Sub(v.sign(s.Task)) {
			continue
		}
		if last.Outcome.Failed() {
			return v.trusted(probesOf(b.Provider)), "its probe failed: " + last.Detail
		}
		return false, "its probe was answered"
	}
	if s.hasBox(func(b *Box) bool { return b.Lost() || b.Here && b.State == SandboxFailed }) {
		return true, ""
	}
	return false, ""
}
