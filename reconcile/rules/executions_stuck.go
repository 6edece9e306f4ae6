package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// executionsStuck finds a sandbox that says it runs while what it was asked to run stays
// queued. Where executions are served one after another, those behind a running one wait
// rightly. Activity newer than the first look that saw it queued vetoes it.
func executionsStuck(v *view.View, s *reconcile.Subject) Result {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:queue-replaced harm
		if v.LeftBehind(s, b) {
			continue
		}
		//guard:queue-anothers live
		if s.Task != nil && s.LinkState == reconcile.LinkLive && view.BoxAnothers(b, s.Task) {
			continue
		}
		if b.Here && b.Owned && b.State == reconcile.SandboxRunning && b.Probes.Queues() {
			return judgeQueue(v, s, b)
		}
	}
	return no(v, func() string { return queueless(v, s) })
}

// queueless says why nothing is stuck in any of the subject's sandboxes.
func queueless(v *view.View, s *reconcile.Subject) string {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		for j := len(b.Probes.Measurements) - 1; j >= 0; j-- {
			if m := &b.Probes.Measurements[j]; m.Executions != nil {
				return fmt.Sprintf("sandbox %s: %d queued and %d running when measured %s ago",
					b.ID, m.Executions.Queued, m.Executions.Running, text.Duration(v.Now.Sub(m.At)))
			}
		}
	}
	return "no sandbox of it whose executions were measured"
}

func judgeQueue(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) Result {
	saw := sawQueued(v, b)
	if len(saw) == 0 {
		return Result{NeedsProbe: true,
			Suspect: "executions are queued, as was seen too long ago or soon after it was resumed"}
	}
	first, last := saw[0], saw[len(saw)-1]
	waits := last.Executions.QueuedFor
	//guard:queue-active harm
	if v.ActiveSince(s, first.At) {
		return Result{NeedsProbe: true,
			Suspect: fmt.Sprintf("%s queued for %s, but its worker was active after that was first seen",
				executions(last.Executions.Queued), text.Duration(waits))}
	}
	after := After(v, "executions-stuck", s)
	//guard:queue-twice harm
	if len(saw) < 2 || waits < after {
		return Result{NeedsProbe: true, Suspect: fmt.Sprintf("%s queued for %s of %s, seen %s",
			executions(last.Executions.Queued), text.Duration(waits), text.Duration(after), times(len(saw)))}
	}
	out := Result{
		Found: true, Due: true, Sandbox: b, NeedsProbe: true, Holds: explainedElsewhere(v, s, b),
		Since: v.Now.Sub(last.At) + waits,
		Reason: fmt.Sprintf("sandbox %s says %s but runs nothing: %s queued, the oldest for %s, limit %s",
			b.ID, b.Raw, executions(last.Executions.Queued), text.Duration(waits), text.Duration(after)),
		Evidence: []reconcile.Evidence{boxSeenAs(b)},
	}
	for _, m := range saw {
		out.Evidence = append(out.Evidence, reconcile.Evidence{Source: b.Provider, At: m.At, Fact: fmt.Sprintf(
			"%s queued, none runs, the oldest waits for %s", executions(m.Executions.Queued),
			text.Duration(m.Executions.QueuedFor))})
	}
	return out
}

// sawQueued are the measurements that saw the oldest execution of now wait, oldest first:
// what was queued before it has been served.
func sawQueued(v *view.View, b *reconcile.SeenSandbox) []reconcile.Measurements {
	const slack = 5 * time.Second // a look takes its time
	run := v.Wanted(b, func(m *reconcile.Measurements) bool { return m.Executions != nil })
	run = view.Trailing(run, func(m *reconcile.Measurements) bool {
		return reconcile.QueueOf(m.Executions) == reconcile.QueueWaiting
	})
	if len(run) == 0 {
		return nil
	}
	last := run[len(run)-1]
	since := last.At.Add(-last.Executions.QueuedFor - slack)
	from := slices.IndexFunc(run, func(m reconcile.Measurements) bool { return !m.At.Before(since) })
	return run[from:]
}

func executions(n int) string {
	if n == 1 {
		return "1 execution is"
	}
	return fmt.Sprintf("%d executions are", n)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
