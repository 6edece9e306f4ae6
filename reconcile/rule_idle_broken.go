package reconcile

import (
	"fmt"
	"time"
)

// resumeGrace is how long after a resume a failed probe does not count.
const resumeGrace = 120 * time.Second

// idleBroken finds a sandbox that says it runs while a real exec or a real file listing in
// it fails, again and again. Activity newer than the first failed probe vetoes it.
func idleBroken(v *view, s *Subject) answer {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if b.Here && b.Owned && b.State == SandboxRunning && len(b.Probes.Failures) > 0 {
			return v.judgeProbes(s, b)
		}
	}
	return v.no(func() string { return v.probedWords(s) })
}

// probedWords say what the probes of the subject's sandboxes came to.
func (v *view) probedWords(s *Subject) string {
	words := ""
	for i := range s.Boxes {
		b := &s.Boxes[i]
		switch last := b.Probes.Last; {
		case !b.Here:
		case b.State != SandboxRunning:
			words = joined(words, fmt.Sprintf("sandbox %s is %s, only running ones are judged", b.ID, b.Raw))
		case last.At.IsZero():
			words = joined(words, fmt.Sprintf("sandbox %s was not probed yet", b.ID))
		default:
			words = joined(words, fmt.Sprintf("the last probe of sandbox %s, %s ago: %s", b.ID, short(v.now.Sub(last.At)),
				last.Outcome))
		}
	}
	return firstOf(words, "no sandbox of it is here")
}

func (v *view) judgeProbes(s *Subject, b *Box) answer {
	p := v.p.Rules["idle-broken"]
	run := v.countable(b)
	if len(run) == 0 {
		return answer{probe: true, kept: "a probe failed soon after it was resumed"}
	}
	first, last := run[0], run[len(run)-1]
	if s.Task != nil && s.Fate == FateLive {
		act := s.Task.Activity()
		if s.Task.ahead() {
			act = v.sign(s.Task)
		}
		if !act.IsZero() && s.Task.AsOf.Sub(act) < v.now.Sub(first.At) {
			return answer{probe: true, kept: "probes fail, but its worker was active after the first that failed"}
		}
	}
	span := last.At.Sub(first.At)
	after := v.threshold("idle-broken", s)
	if len(run) < p.Failures || span < after {
		return answer{probe: true, kept: fmt.Sprintf("%d of %d probes failed over %s of %s: %s",
			len(run), p.Failures, short(span), short(after), last.Detail)}
	}
	out := answer{
		found: true, due: true, sandbox: b, probe: true, holds: v.explainedElsewhere(s, b), ago: v.now.Sub(first.At),
		reason: fmt.Sprintf("sandbox %s says %s but does not work: %d probes in a row failed over %s, the last: %s",
			b.ID, b.Raw, len(run), short(span), last.Detail),
		evidence: []Evidence{b.seenAs()},
	}
	for _, r := range run {
		out.evidence = append(
			out.evidence,
			Evidence{Source: b.Provider, At: r.At, Fact: "probe: " + string(r.Outcome) + ", " + r.Detail},
		)
	}
	return out
}

// countable is the present run of failures, without those soon after a resume or before an
// outage of the probes.
func (v *view) countable(b *Box) []ProbeResult {
	from := latest(v.sources[probesOf(b.Provider)].RecoveredAt, v.s.Memory.WatchSince)
	if !b.Seen.ResumedAt.IsZero() {
		from = latest(from, b.Seen.ResumedAt.Add(resumeGrace))
	}
	run := b.Probes.Failures
	for len(run) > 0 && run[0].At.Before(from) {
		run = run[1:]
	}
	return run
}
