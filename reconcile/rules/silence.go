package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// proven is the answer on a worker that has been silent, or has done nothing, for long enough: found
// only where something besides the silence agrees. Where nothing can, it is found and held, so that
// an operator sees it.
func proven(v *view.View, s *reconcile.Subject, quiet string, found func() Result) Result {
	kept := func(why string) Result { return Result{Suspect: quiet + ", " + why} }
	if why := restsElsewhere(v, s); why != "" {
		return kept("but " + why)
	}
	//guard:silent-gone live
	if v.Judges("sandbox-missing") && nothingHere(v, s) {
		out := kept("and no sandbox of it is here: that is for sandbox-missing")
		out.NeedsLookup = v.CanLook(s.Task)
		return out
	}
	worker, at := v.WorkerSeen(s)
	failed, _ := probedBroken(v, s)
	switch {
	//guard:silent-worker-alive harm
	case worker == reconcile.WorkerAlive:
		return Result{NeedsProbe: true, Suspect: fmt.Sprintf("%s, but its worker was there %s ago", quiet,
			text.Duration(v.Now.Sub(at)))}
	case worker == reconcile.WorkerDead:
		return found()
	//guard:silent-due harm
	case !view.TaskDue(s.Task):
		return Result{NeedsProbe: true, Suspect: quiet +
			", but nothing said that its worker would speak by now: its newest sign " +
			"is of work"}
	//guard:silent-unproven harm
	case failed:
		return found()
	}
	return unprovenSilence(v, s, quiet, found)
}

// unprovenSilence is the answer while nothing but silence speaks against a worker: its sandbox is
// probed first. Where that says nothing against it, the finding is held.
func unprovenSilence(v *view.View, s *reconcile.Subject, quiet string, found func() Result) Result {
	if ago, there := thereLately(v, s); there {
		return Result{NeedsProbe: true, NeedsLookup: Unseen(v, s), Suspect: fmt.Sprintf(
			"%s, but its worker was there %s ago, and gave a sign since", quiet, text.Duration(ago))}
	}
	if mayProbe(v, s) && (!probedSince(v, s) || staleWorker(v, s)) {
		return Result{NeedsProbe: true, NeedsLookup: Unseen(v, s), Suspect: quiet + ": its sandbox is probed first"}
	}
	out := found()
	out.Holds = append(out.Holds, reconcile.Held{Kind: reconcile.HeldSilence,
		Reason: reconcile.FirstOf(silenceWords(v, s), "no probe of its sandbox can be made") +
			", and only silence speaks against its worker"})
	return out
}

// FindingSilent reports whether nothing but silence speaks for the finding.
func FindingSilent(f *reconcile.Finding) bool {
	_, silent := f.HeldBy.Of(reconcile.HeldSilence)
	return silent
}

// restsElsewhere says why a worker is silent that need not speak: its sandbox is paused or comes up.
func restsElsewhere(v *view.View, s *reconcile.Subject) string {
	//guard:silent-paused harm
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.State == reconcile.SandboxSuspended }) {
		return "its sandbox is paused: " + v.State(s)
	}
	//guard:silent-coming-up harm
	if b := subjectComingUp(s); b != nil {
		return fmt.Sprintf("its sandbox %s is %s", b.ID, b.Raw)
	}
	//guard:silent-named-paused harm
	if sb := namedAtRest(v, s); sb != nil {
		return fmt.Sprintf("the sandbox that its row names, %s, is %s", sb.Ref, sb.Raw)
	}
	return ""
}

// nothingHere reports whether no sandbox of the task exists as far as this pass knows.
func nothingHere(v *view.View, s *reconcile.Subject) bool {
	return !s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && !b.Lost() })
}

// staleWorker reports whether the newest probe of a sandbox of the task told of its worker, too long ago.
func staleWorker(v *view.View, s *reconcile.Subject) bool {
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		last := b.Probes.Last
		old := last.Worker != reconcile.WorkerUnknown && v.Now.Sub(last.At) > 2*v.P.Full
		return b.Here && old && !v.Replaced(s, b) && !view.BoxAnothers(b, s.Task)
	})
}

// thereLately reports whether the newest probe of a sandbox of the task found its worker alive a while ago, and that
// gave a sign since: one that hangs and sends heartbeats is probed again and again, and each time it is there.
func thereLately(v *view.View, s *reconcile.Subject) (ago time.Duration, there bool) {
	if _, speaks := v.Alive(s.Task); !speaks {
		return 0, false
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		last := b.Probes.Last
		ago = v.Now.Sub(last.At)
		if b.Here && last.Worker == reconcile.WorkerAlive && ago >= 0 && ago <= 2*v.P.Full && !v.SinceSilent(s, last.At) &&
			mayProbe(v, s) && !v.Replaced(s, b) && !view.BoxAnothers(b, s.Task) {
			return ago, true
		}
	}
	return 0, false
}

// mayProbe reports whether a sandbox of the task can be probed at all.
func mayProbe(v *view.View, s *reconcile.Subject) bool {
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		return b.Here && b.State == reconcile.SandboxRunning && b.Ours() && !v.P.Providers[b.Provider].Probe.Off &&
			!v.Replaced(s, b)
	})
}

// probedSince reports whether a sandbox of the task was probed since its worker's newest sign.
func probedSince(v *view.View, s *reconcile.Subject) bool {
	return s.HasBox(func(b *reconcile.SeenSandbox) bool { return !v.Replaced(s, b) && v.SinceSilent(s, b.Probes.Last.At) })
}

// silenceWords say what the newest probe since the silence began came to.
func silenceWords(v *view.View, s *reconcile.Subject) string {
	if worker, at := v.WorkerSeen(s); worker == reconcile.WorkerDead {
		return reconcile.NotRunning(v.Now.Sub(at))
	}
	_, words := probedBroken(v, s)
	return words
}

// probedBroken reports whether the newest probe since the silence began failed, in words. A
// failure that every sandbox shares is the provider's.
func probedBroken(v *view.View, s *reconcile.Subject) (bool, string) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if v.Replaced(s, b) || view.BoxAnothers(b, s.Task) {
			continue
		}
		last := view.ProbeSeenVerdict(*b.Probes)
		if last.At.IsZero() || v.Now.Sub(last.At) > s.Task.AsOf.Sub(v.Sign(s.Task)) {
			continue
		}
		if last.Outcome.Failed() {
			return provesBroken(v, s, b), "its probe failed: " + last.Detail
		}
		return false, "its probe was answered"
	}
	//guard:silent-earlier harm
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.State == reconcile.SandboxRunning }) {
		return false, ""
	}
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		//guard:silent-by-label harm
		return (b.Lost() || b.Here && b.State == reconcile.SandboxFailed) && !v.Replaced(s, b) && !view.BoxAnothers(b, s.Task)
	}), ""
}

// Unseen reports whether a task may have a sandbox that this pass has not looked at: a remedy
// for the task would leave it alone. Of a sandbox without a link the listing may have lost it.
func Unseen(v *view.View, s *reconcile.Subject) bool {
	if s.LinkState == reconcile.LinkUnnamed && len(s.Boxes) == 1 {
		_, looked := v.S.Lookups[s.Boxes[0].Ref]
		return !looked
	}
	return s.Task != nil && slices.ContainsFunc(v.LookRefs(s), func(ref reconcile.Ref) bool {
		_, looked := v.S.Lookups[ref]
		return !looked && !s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.Ref == ref })
	})
}
