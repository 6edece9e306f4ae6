package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// assignedStale finds a task that was handed out and whose worker never started: no start
// time, no event ever. A sandbox that is still coming up, or that is being set up, is exempt until
// provisioning-stuck. A proven failure shortens the threshold; an unusable template only
// names the cause.
func assignedStale(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State != reconcile.TaskAssigned {
		return apart(v, s, "assigned tasks are")
	}
	//guard:stale-started harm
	if v.Started(s) {
		return no(v, func() string {
			return "its worker has started: started " + text.Time(view.SubjectPresentStart(s)) + ", " + reconcile.LifeLine(t)
		})
	}
	//guard:stale-alive P14
	if age, alive := v.Alive(t); alive {
		if !v.Heard(t) {
			return Result{Suspect: fmt.Sprintf("its row was changed %s ago: it is being set up", text.Duration(age))}
		}
		return Result{Suspect: fmt.Sprintf("a worker of it was last seen %s ago, before it was handed out",
			text.Duration(age))}
	}
	//guard:stale-coming-up harm
	if b := subjectComingUp(s); b != nil {
		return Result{Suspect: fmt.Sprintf("its sandbox %s is still %s", b.ID, b.Raw)}
	}
	//guard:stale-set-up harm
	if b, ago := beingSetUp(v, s); b != nil {
		return Result{Suspect: fmt.Sprintf("its sandbox %s was active %s ago at the provider: it is being set up, and has "+
			"until %s after it was handed out", b.ID, text.Duration(ago), text.Duration(After(v, "provisioning-stuck", s)))}
	}
	//guard:stale-worker-there harm
	if worker, at := v.WorkerSeen(s); worker == reconcile.WorkerAlive {
		return Result{NeedsProbe: true, Suspect: fmt.Sprintf("its worker was there %s ago", text.Duration(v.Now.Sub(at)))}
	}
	proof := provenStart(v, s)
	after := After(v, "assigned-stale", s)
	if proof.conclusive {
		after = min(after, proof.after)
	}
	age, by := unstartedFor(v, s, proof.conclusive)
	if age < after {
		return Result{
			NeedsLookup: proof.conclusive && v.Unrecorded(s),
			NeedsProbe:  v.AsksWorker(s) && age >= v.P.Rules["assigned-stale"].Conclusive,
			Suspect:     fmt.Sprintf("%s for %s of %s", t.Status, text.Duration(age), text.Duration(after)),
		}
	}
	//guard:stale-maybe-started harm
	if why := maybeStarted(v, s); why != "" {
		return Result{Suspect: why}
	}
	where, ok := v.Locate(s)
	var unseen reconcile.HeldBy
	if !ok {
		unseen = unseeable(v, s)
	}
	//guard:stale-looked P4
	if !ok && len(unseen) == 0 {
		return Result{NeedsLookup: v.CanLook(t), Suspect: where}
	}
	out := neverStarted(v, s, where, proof.words, fmt.Sprintf("status %s for %s by %s, limit %s, no start time",
		t.Status, text.Duration(age), by, text.Duration(after)))
	out.Evidence = append(out.Evidence, proof.evidence...)
	out.Conclusive, out.Since, out.NeedsLookup = proof.conclusive, age, !ok && v.CanLook(t)
	//guard:stale-unseen P4
	out.Holds = unseen
	//guard:stale-searched P3
	if !proof.conclusive && onlySearched(v, t) && after >= v.P.Full && !listedSince(v, t, age) {
		out.Holds = append(out.Holds, reconcile.Held{Kind: reconcile.HeldUnlooked,
			Reason: "sandbox was only searched for: the next listing tells whether it is there"})
	}
	return out
}

// listedSince reports whether each provider's last whole listing could show a sandbox of the task, which has waited for
// one for so long: a full pass that is pushed aside may be the only one since. One is made a while after its row was
// written, and is shown a while after that. Who wants a start failed sooner than the next full pass comes wants it by
// searches.
func listedSince(v *view.View, t *reconcile.Task, age time.Duration) bool {
	return !slices.ContainsFunc(v.P.Candidates(t), func(provider string) bool {
		last, p := v.Sources[reconcile.ListingOf(provider)].LastTrusted, v.P.Providers[provider]
		//guard:stale-unproven harm
		if p.Referenced {
			return true // what it showed, and no row has proven to be ours, the ledger does not remember
		}
		//guard:stale-made-later harm
		return last.IsZero() || v.Now.Sub(last) >= age-p.IndexLag-view.ShownWithin
	})
}

// unseeable are the freezes of the listings that could show a sandbox of the task and are not
// trusted, when they are not there to rest on or the direct look failed too. No release lets go
// of these: it believes a listing that is there.
func unseeable(v *view.View, s *reconcile.Subject) (holds reconcile.HeldBy) {
	for _, provider := range v.P.Candidates(s.Task) {
		name := reconcile.ListingOf(provider)
		if !v.Trusted(name) && (!v.Listed(provider) || lookFailed(v, s)) {
			holds = append(holds, reconcile.HeldFrozen(name))
		}
	}
	return holds
}

// lookFailed reports whether a sandbox of the task was looked for by id or by link in vain.
func lookFailed(v *view.View, s *reconcile.Subject) bool {
	_, why := LookFailed(v, s)
	return why != ""
}

// LookFailed is why a sandbox of the subject was looked for by id or by link in vain, and at which provider: the first
// of them, or "" where no look failed.
func LookFailed(v *view.View, s *reconcile.Subject) (provider, why string) {
	for _, ref := range v.LookRefs(s) {
		if failed := v.S.Lookups[ref].Error; failed != "" {
			return ref.Provider, failed
		}
	}
	if s.Task != nil && v.S.Finds[s.Task.ID].Error != "" {
		return reconcile.FirstOf(v.P.Candidates(s.Task)...), v.S.Finds[s.Task.ID].Error
	}
	return "", ""
}

// unstartedFor is for how long the task has certainly been handed out while all that could
// tell of a start was watched.
func unstartedFor(v *view.View, s *reconcile.Subject, conclusive bool) (time.Duration, string) {
	age, by := v.StateAge(s)
	if sign := v.Sign(s.Task); !sign.IsZero() { // whoever sets it up moves the row: from then on it is silent
		age = min(age, max(s.Task.AsOf.Sub(sign), 0))
	}
	//guard:stale-race P3
	age -= max(s.Task.AsOf.Sub(v.S.T0), 0) // the state must have begun before the listings did
	if !conclusive {
		//guard:stale-after-events P6
		age = min(age, v.Observed(reconcile.SourceEvents))
	}
	//guard:stale-after-tasks P6
	//guard:stale-after-listing P6
	return max(min(age, v.Observed(reconcile.SourceTasks), observedListings(v, s.Task)), 0), by
}

// maybeStarted says why the worker may have started although nothing tells of it here.
func maybeStarted(v *view.View, s *reconcile.Subject) string {
	if b := subjectUnknownBox(s); b != nil {
		return fmt.Sprintf("its sandbox %s is in the unknown state %q", b.ID, b.Raw)
	}
	if b, ago := busyElsewhere(v, s); b != nil {
		return fmt.Sprintf("its sandbox %s was active %s ago at the provider, and its worker may report to "+
			"another environment that shares the account (exclusive: false)", b.ID, text.Duration(ago))
	}
	return ""
}

func neverStarted(v *view.View, s *reconcile.Subject, where, proof, clock string) Result {
	t := s.Task
	cause, because := v.Cause(s)
	return Result{
		Found: true, Due: true,
		Reason: strings.Join(reconcile.NonEmpty("worker never started: "+where, proof, cause), "; "),
		Evidence: append([]reconcile.Evidence{
			{Source: "tasks", At: t.AsOf, Fact: clock},
			{Source: "events", At: t.AsOf, Fact: "no event of this worker ever"},
			{Source: "providers", At: v.Now, Fact: where},
		}, because...),
	}
}

// A startProof is what proves that a start failed, and after which time that counts.
type startProof struct {
	conclusive bool
	after      time.Duration
	words      string
	evidence   []reconcile.Evidence
}

// provenStart is the quickest proof that the task's start failed. That its worker was there, and is not any more,
// needs no time, nor does what the provider itself has on record of the end of its sandboxes.
func provenStart(v *view.View, s *reconcile.Subject) startProof {
	if at, gone := v.WorkerGone(s); gone {
		words := fmt.Sprintf("its worker was there, and was not running %s ago", text.Duration(v.Now.Sub(at)))
		return startProof{conclusive: true, words: words,
			evidence: []reconcile.Evidence{{Source: "providers", At: at, Fact: "probe.worker: " + words}}}
	}
	words, proven := conclusive(v, s)
	told, record := v.DeathWords(s)
	out := startProof{conclusive: proven, after: v.P.Rules["assigned-stale"].Conclusive,
		words: reconcile.Joined(words, told), evidence: record}
	if proven && words == "" && len(v.DiedAll(s)) > 0 {
		out.after = 0
	}
	return out
}

// conclusive reports a proof that the start failed: the platform wrote an error during
// the present state, or the task's own sandbox, which its row names, was there and is failed or gone.
func conclusive(v *view.View, s *reconcile.Subject) (string, bool) {
	if s.Seen().ErrorChanged && s.Seen().Status == s.Task.Status && s.Task.Error != "" && !reconcile.Marked(s.Task.Error) {
		return "the platform noted: " + text.Clip(s.Task.Error, 200), true
	}
	if words := notedOfTemplate(v, s); words != "" {
		return words, true
	}
	//guard:stale-by-label harm
	if !s.HasBox(func(b *reconcile.SeenSandbox) bool { return v.Vouched(s, b) }) {
		return "", false // whoever sets the label could tell of a start that failed
	}
	for _, b := range s.Boxes {
		//guard:stale-heir harm
		if v.MayGoOn(s, &b) {
			return "", false
		}
		//guard:stale-ended-by-us harm
		if v.Ending[b.Ref] || b.Lost() && b.Seen().GoneByUs {
			return "", false // it was of the attempt that we ended: of this one nobody has seen a sandbox yet
		}
		//guard:stale-earlier harm
		if v.OfEarlier(s, &b) {
			return "", false
		}
		if !b.Known || v.Past(s, &b) || !b.Lost() && b.State != reconcile.SandboxFailed {
			return "", false
		}
	}
	return "", true
}

// notedOfTemplate are two witnesses of a start that failed, the platform and the provider: the row has an error, as it
// may have had when a pass first saw the attempt, and the template that it names was unusable when it was looked at
// since the task was handed out. What has a sandbox was made by a fall-back. "" when one of them is missing.
func notedOfTemplate(v *view.View, s *reconcile.Subject) string {
	t := s.Task
	if t.Error == "" || reconcile.Marked(t.Error) || t.Template == "" || len(s.Boxes) > 0 {
		return ""
	}
	words := ""
	handedOut, _ := v.StateAge(s)
	for _, provider := range v.P.Candidates(t) {
		at := slices.IndexFunc(v.S.Templates, func(one reconcile.Template) bool {
			return one.Provider == provider && (one.Name == t.Template || one.ID == t.Template)
		})
		//guard:stale-template-usable harm
		if at < 0 || view.TemplateStateUsable(v.S.Templates[at].State) {
			return ""
		}
		//guard:stale-template-since harm
		if v.S.Kind != reconcile.Full && v.Since(v.S.Templates[at].AsOf) >= handedOut {
			return "" // it may have been mended since, and be what this attempt comes up with
		}
		words = v.TemplateText(v.S.Templates[at])
	}
	return reconcile.Joined("the platform noted: "+text.Clip(t.Error, 200), words)
}

// busyElsewhere is a running sandbox of the task that the provider saw active a moment ago,
// where the account may be shared: on a copy of the database its worker seems never to have
// started, while it reports to the original.
func busyElsewhere(v *view.View, s *reconcile.Subject) (*reconcile.SeenSandbox, time.Duration) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != reconcile.SandboxRunning || v.P.Providers[b.Provider].Exclusive {
			continue
		}
		if ago, known := v.ActiveAgo(b.Sandbox); known && ago <= v.Limit {
			return b, ago
		}
	}
	return nil, 0
}

// beingSetUp is a running sandbox of the task that its provider saw active a moment ago, while the
// task was handed out for less time than a sandbox may take to come up: some platforms make the
// sandbox, install for minutes, and only then write its name into the row.
func beingSetUp(v *view.View, s *reconcile.Subject) (*reconcile.SeenSandbox, time.Duration) {
	if age, _ := v.StateAge(s); age >= After(v, "provisioning-stuck", s) {
		return nil, 0
	}
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != reconcile.SandboxRunning {
			continue
		}
		if ago, known := v.ActiveAgo(b.Sandbox); known && ago <= v.Limit {
			return b, ago
		}
	}
	return nil, 0
}

// subjectComingUp is a sandbox of the subject that is on its way to running.
func subjectComingUp(s *reconcile.Subject) *reconcile.SeenSandbox {
	for i := range s.Boxes {
		if s.Boxes[i].Here && s.Boxes[i].State == reconcile.SandboxCreating {
			return &s.Boxes[i]
		}
	}
	return nil
}

// subjectUnknownBox is a sandbox in a state that the adapter does not know: nothing is done
// because of it.
func subjectUnknownBox(s *reconcile.Subject) *reconcile.SeenSandbox {
	for i := range s.Boxes {
		if s.Boxes[i].Here && s.Boxes[i].State == reconcile.SandboxUnknown {
			return &s.Boxes[i]
		}
	}
	return nil
}

// observedListings is for how long the listings that matter to the task have been
// trusted without an outage.
func observedListings(v *view.View, t *reconcile.Task) time.Duration {
	observed := reconcile.Forever
	for _, provider := range v.P.Candidates(t) {
		observed = min(observed, v.Observed(reconcile.ListingOf(provider)))
	}
	return observed
}
