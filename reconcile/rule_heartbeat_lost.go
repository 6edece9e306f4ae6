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
	switch {
	case t == nil || s.Fate != FateLive || t.State != TaskRunning:
		return v.apart(s, "running tasks are")
	case t.LifeSign().IsZero():
		return fine("its worker never gave a life sign: no silence can be timed; what never started is for assigned-stale")
	//guard:silent-beats harm where nobody sends heartbeats, everybody would be silent
	case !v.beats:
		return fine("nobody sends heartbeats here: silence says nothing")
	}
	limit := max(v.threshold("heartbeat-lost", s), v.limit)
	all := t.AsOf.Sub(v.sign(t))
	ran, _ := v.stateAge(s) // a sign of an earlier attempt does not time this one's silence
	//guard:silent-ran P5 `ran => forever` an earlier attempt's last sign would time this one's silence
	//guard:silent-recovered P6 `v.observed(sourceEvents, sourceTasks) => forever` silence during an outage would count
	quiet := min(v.silentFor(t), ran, v.observed(sourceEvents, sourceTasks))
	if quiet <= limit {
		if all > limit {
			return answer{kept: fmt.Sprintf("silent for %s, of which only %s count: others were not heard either, "+
				"a source was out, or it has not run for longer", short(all), short(quiet))}
		}
		return v.no(func() string { return fmt.Sprintf("last life sign %s ago, limit %s", short(all), short(limit)) })
	}
	if why, probe := v.unheard(s); why != "" {
		return answer{probe: probe, look: probe && v.unseen(s), kept: fmt.Sprintf("silent for %s, %s", short(quiet), why)}
	}
	return v.foundSilent(s, min(all, ran), limit)
}

// unheard says why a silent worker is not failed for it now: its sandbox explains the silence,
// or a probe has to agree first.
func (v *view) unheard(s *Subject) (why string, probe bool) {
	//guard:silent-paused harm a task whose sandbox is paused would be failed as silent
	if s.hasBox(func(b *Box) bool { return b.Here && b.State == SandboxSuspended }) {
		return "its sandbox is " + v.state(s), false
	}
	//guard:silent-coming-up harm a task whose sandbox comes back would be failed as silent
	if b := s.comingUp(); b != nil {
		return fmt.Sprintf("but its sandbox %s is %s", b.ID, b.Raw), false
	}
	//guard:silent-named-paused harm a task whose sandbox has lost its labels and is paused would be failed
	if sb := v.namedAtRest(s); sb != nil {
		return fmt.Sprintf("but the sandbox that its row names, %s, is %s", sb.Ref, sb.Raw), false
	}
	//guard:silent-together harm many silent at once would be failed before one of them was probed
	if v.unproven[s.Task.ID] {
		return "together with others: its sandbox is probed first", true
	}
	//guard:silent-alone harm with few tasks, a pipeline that is down would kill them
	if failed, _ := v.probedBroken(s); v.running < 3 && !failed {
		return "but fewer than 3 tasks run and no probe of its sandbox has failed", true
	}
	return "", false
}

// namedAtRest is the sandbox that the row names, by its id or by its name, and that a direct look
// showed to be paused or to come up; nil when there is none.
func (v *view) namedAtRest(s *Subject) *Sandbox {
	rests := func(sb *Sandbox) bool { return sb.State == SandboxSuspended || sb.State == SandboxCreating }
	for _, ref := range v.lookRefs(s) {
		if look := v.s.Looks[ref]; rests(&look.Sandbox) {
			return &look.Sandbox
		}
	}
	found := v.s.Finds[s.Task.ID].Sandboxes
	for i := range found {
		if rests(&found[i]) && found[i].calledBy(s.Task.Sandbox) {
			return &found[i]
		}
	}
	return nil
}

func (v *view) foundSilent(s *Subject, ago, limit time.Duration) answer {
	t := s.Task
	_, probed := v.probedBroken(s)
	return answer{
		found: true, due: true, probe: true, ago: ago, holds: v.unknowns(s),
		reason: joined(fmt.Sprintf("worker fell silent: last life sign %s, %s ago, limit %s",
			stamp(t.LifeSign()), short(t.AsOf.Sub(v.sign(t))), short(limit)), v.state(s), probed),
		evidence: []Evidence{
			{Source: "events", At: t.LifeSign(), Fact: "newest life sign of this worker"},
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, %d tasks run", t.Status, v.running)},
			{Source: "providers", At: v.now, Fact: joined(v.state(s), probed)},
		},
	}
}

// unknowns are the task's sandboxes that were looked at in vain: one may be paused, and its task
// goes on. One that a listing shows needs no look.
func (v *view) unknowns(s *Subject) (holds []string) {
	for _, ref := range v.lookRefs(s) {
		//guard:silent-unlooked harm a task whose sandbox is paused would be failed while nobody can look
		if look := v.s.Looks[ref]; look.Error != "" {
			holds = append(holds, v.unlooked(ref))
		}
	}
	return holds
}

// silentFor is how long the worker has been silent while others were heard. When nobody
// was heard for a whole heartbeat, silence after the newest sign of all is the pipeline's:
// when that stops, the one who spoke earliest must not be taken for dead before the freeze
// can know.
func (v *view) silentFor(t *Task) time.Duration {
	if v.running < 3 || t.AsOf.Sub(v.newest) <= v.limit/3 {
		return t.AsOf.Sub(v.sign(t))
	}
	//guard:silent-as-others P6 `= t.AsOf.Sub(v.sign(t))` when all fall silent, the first would be taken for dead
	return v.newest.Sub(v.sign(t))
}

// probedBroken reports whether the newest probe since the silence began failed, in words. A
// failure that every sandbox shares is the provider's.
func (v *view) probedBroken(s *Subject) (bool, string) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if v.replaced(s, b) {
			continue
		}
		last := b.Probes.verdict()
		if last.At.IsZero() || v.now.Sub(last.At) > s.Task.AsOf.Sub(v.sign(s.Task)) {
			continue
		}
		if last.Outcome.Failed() {
			return v.convicts(b), "its probe failed: " + last.Detail
		}
		return false, "its probe was answered"
	}
	//guard:silent-earlier harm the lost sandbox of an earlier attempt would stand for a failed probe of the present one
	if s.hasBox(func(b *Box) bool { return b.Here && b.State == SandboxRunning }) {
		return false, ""
	}
	return s.hasBox(func(b *Box) bool { return b.Lost() || b.Here && b.State == SandboxFailed }), ""
}
