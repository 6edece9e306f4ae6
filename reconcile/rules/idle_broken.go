package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// idleBroken finds a sandbox that says it runs while a real exec or a real file listing in
// it fails, again and again. Activity newer than the first failed probe vetoes it.
func idleBroken(v *view.View, s *reconcile.Subject) Result {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:broken-replaced harm
		if v.LeftBehind(s, b) {
			continue
		}
		//guard:broken-anothers live
		if s.Task != nil && s.LinkState == reconcile.LinkLive && view.BoxAnothers(b, s.Task) {
			continue
		}
		if b.Here && b.Owned && b.State == reconcile.SandboxRunning && len(b.Probes.Failures) > 0 {
			return judgeProbes(v, s, b)
		}
	}
	return no(v, func() string { return probedWords(v, s) })
}

// probedWords say what the probes of the subject's sandboxes came to.
func probedWords(v *view.View, s *reconcile.Subject) string {
	words := ""
	for i := range s.Boxes {
		b := &s.Boxes[i]
		switch last := b.Probes.Last; {
		case !b.Here:
		case b.State != reconcile.SandboxRunning:
			words = reconcile.Joined(words, fmt.Sprintf("sandbox %s is %s, only running ones are judged", b.ID, b.Raw))
		case last.At.IsZero():
			words = reconcile.Joined(words, fmt.Sprintf("sandbox %s was not probed yet", b.ID))
		default:
			words = reconcile.Joined(words, fmt.Sprintf("the last probe of sandbox %s, %s ago: %s", b.ID,
				text.Duration(v.Now.Sub(last.At)),
				last.Outcome))
		}
	}
	return reconcile.FirstOf(words, "no sandbox of it is here")
}

func judgeProbes(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) Result {
	p := v.P.Rules["idle-broken"]
	run := countable(v, b)
	if len(run) == 0 {
		return Result{NeedsProbe: true, Suspect: "a probe failed soon after it was resumed"}
	}
	run = sinceStart(v, s, run)
	if len(run) == 0 {
		return Result{NeedsProbe: true, Suspect: "its probes failed before its worker was started"}
	}
	first, last := run[0], run[len(run)-1]
	if s.Task != nil && s.LinkState == reconcile.LinkLive {
		act := s.Task.Activity()
		if view.TaskAhead(s.Task) {
			act = v.Sign(s.Task)
		}
		//guard:broken-active harm
		if !act.IsZero() && s.Task.AsOf.Sub(act) < v.Now.Sub(first.At) {
			return Result{NeedsProbe: true, Suspect: "probes fail, but its worker was active after the first that failed"}
		}
	}
	span := last.At.Sub(first.At)
	after := After(v, "idle-broken", s)
	//guard:broken-in-a-row harm
	if len(run) < p.Failures || span < after {
		return Result{NeedsProbe: true, Suspect: fmt.Sprintf("%d of %d probes failed over %s of %s: %s",
			len(run), p.Failures, text.Duration(span), text.Duration(after), last.Detail)}
	}
	//guard:broken-by-turns harm
	if byTurns(v, b) {
		return Result{NeedsProbe: true, Suspect: fmt.Sprintf("%d probes failed, the last: %s; it fails and answers by turns",
			len(run), last.Detail)}
	}
	out := Result{
		Found: true, Due: true, Sandbox: b, NeedsProbe: true, Since: v.Now.Sub(first.At),
		Holds: append(explainedElsewhere(v, s, b), failsElsewhere(v, b, run)...),
		Reason: reconcile.Joined(fmt.Sprintf(
			"sandbox %s says %s but does not work: %d probes in a row failed over %s, the last: %s",
			b.ID, b.Raw, len(run), text.Duration(span), last.Detail), aloneWords(v, s, b)),
		Evidence: []reconcile.Evidence{boxSeenAs(b)},
	}
	for _, r := range run {
		out.Evidence = append(
			out.Evidence,
			reconcile.Evidence{Source: b.Provider, At: r.At, Fact: "probe: " + string(r.Outcome) + ", " + r.Detail},
		)
	}
	return out
}

// byTurns reports whether the sandbox itself answered between failures of the last minutes: what is dead does not, so
// it is the way to it that fails now and then.
func byTurns(v *view.View, b *reconcile.SeenSandbox) bool {
	before := b.Probes.RunEnded
	return !before.IsZero() && v.Now.Sub(before) < flapping
}

// failsElsewhere holds a verdict unless most of the others that were probed since the first
// failure, at the same provider, answer. An older answer says nothing of the provider as it is
// now, and an infrastructure that fails in part fails some sandbox several times in a row.
func failsElsewhere(v *view.View, b *reconcile.SeenSandbox, run []reconcile.ProbeResult) reconcile.HeldBy {
	failed, answered := besideRun(v, b.Ref, run)
	switch {
	//guard:broken-witness harm
	case answered == 0:
		return reconcile.HeldBy{reconcile.HeldUnwitnessed(b.Provider)}
	//guard:broken-in-part harm
	case failed*3 > failed+answered:
		held := reconcile.HeldFrozen(reconcile.ProbesOf(b.Provider))
		held.Reason = fmt.Sprintf("%d of the %d others that were probed since fail as well", failed, failed+answered)
		return reconcile.HeldBy{held}
	}
	return nil
}

// provesBroken reports whether the failed probes of a sandbox say something of it and its silent worker: its provider's
// probes are trusted, and most others that were probed since answer. Where the worker's heartbeats go on, one probe
// that failed speaks of the way to it, and as many in a row are asked for as idle-broken asks for.
func provesBroken(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	//guard:silent-recovered-probes harm
	run := countable(v, b)
	if len(run) == 0 {
		return false
	}
	//guard:silent-by-turns harm
	if byTurns(v, b) {
		return false
	}
	//guard:silent-speaks harm
	if s.Task.AsOf.Sub(v.Sign(s.Task)) <= v.Limit && len(run) < v.P.Rules["idle-broken"].Failures {
		return false
	}
	failed, answered := besideRun(v, b.Ref, run)
	//guard:silent-in-part harm
	if failed*3 > failed+answered {
		return false
	}
	//guard:silent-probes harm
	//guard:silent-witness harm
	return len(v.FrozenOf(reconcile.ProbesOf(b.Provider), reconcile.BoxSubject(b.Ref))) == 0 && answered > 0
}

// besideRun counts the others that were probed since the first failure of a run, as [others] does. One alone that
// answered has to have done so since the second: of what its provider did later, its word of then says nothing.
func besideRun(v *view.View, ref reconcile.Ref, run []reconcile.ProbeResult) (failed, answered int) {
	failed, answered = others(v, ref, run[0].At)
	//guard:broken-heard-later harm
	if answered == 1 && len(run) > 1 {
		_, answered = others(v, ref, run[1].At)
	}
	return failed, answered
}

// flapping is for how long a failure that was followed by an answer speaks against the provider's probes.
const flapping = 5 * time.Minute

// others counts the other sandboxes of the provider whose newest probe was made since a first
// failure, or in the same round, by how it went. One that failed and answered within the last minutes is no witness
// that all is well with the provider, but that it fails in part, also where this one had not failed yet.
func others(v *view.View, ref reconcile.Ref, first time.Time) (failed, answered int) {
	from := first.Add(-v.P.Providers[ref.Provider].Probe.Timeout)
	count := oncePerTenant(v)
	for other, seen := range v.S.Memory.Probes {
		last := view.ProbeSeenVerdict(seen)
		if other.Provider != ref.Provider || other == ref || last.At.Before(from) {
			continue
		}
		//guard:broken-flapping harm
		flaps := !seen.RunEnded.Before(v.Now.Add(-flapping))
		switch {
		case last.Outcome.Failed(), flaps:
			failed += count(other, true)
		case last.Outcome == reconcile.Answered:
			answered += count(other, false)
		}
	}
	return failed, answered
}

// oncePerTenant counts a sandbox, or, where rows say whose they are, a tenant: one that lets its own fail shall
// not hold what is found at others.
func oncePerTenant(v *view.View) func(ref reconcile.Ref, failed bool) int {
	type voice struct {
		tenant string
		failed bool
	}
	counted := map[voice]bool{}
	return func(ref reconcile.Ref, failed bool) int {
		if !v.P.Tasks.Tenants {
			return 1
		}
		of := voice{v.TenantOfSubject(reconcile.BoxSubject(ref)), failed}
		//guard:broken-tenants live
		if counted[of] {
			return 0
		}
		counted[of] = true
		return 1
	}
}

// compared is how many sandboxes that nobody suspects are probed beside those that fail: their
// failures say something of them only while others answer at the same time.
const compared = 3

// WithoutEvidenceOfLife is how many others are still to be probed beside the sandboxes of a provider that
// fail their probes.
func WithoutEvidenceOfLife(v *view.View, provider string) int {
	most := 0
	for ref, seen := range v.S.Memory.Probes {
		if ref.Provider == provider && len(seen.Failures) > 0 && v.S.Memory.Sandboxes.Of(ref).GoneAt.IsZero() {
			failed, answered := others(v, ref, seen.Failures[0].At)
			most = max(most, compared-failed-answered)
		}
	}
	return most
}

// countable is the present run of failures, without those soon after a resume or before an
// outage of the probes.
func countable(v *view.View, b *reconcile.SeenSandbox) []reconcile.ProbeResult {
	run, from := b.Probes.Failures, v.ProbesFrom(b)
	for len(run) > 0 && run[0].At.Before(from) {
		run = run[1:]
	}
	return run
}

// sinceStart is a run of failures without those from before the present attempt began, by its row: what
// failed then may be of the attempt before, and this one work in a sandbox that nobody has seen yet.
func sinceStart(v *view.View, s *reconcile.Subject, run []reconcile.ProbeResult) []reconcile.ProbeResult {
	if s.Task == nil || s.LinkState != reconcile.LinkLive || s.Task.State != reconcile.TaskRunning {
		return run
	}
	began := view.SubjectPresentStart(s)
	//guard:broken-started harm
	for len(run) > 0 && v.ClockTrusted(s.Task, "started_at") && v.Now.Sub(run[0].At) > s.Task.AsOf.Sub(began) {
		run = run[1:]
	}
	return run
}
