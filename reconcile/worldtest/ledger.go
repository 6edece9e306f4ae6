package worldtest

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The lines of a world that say what the ledger remembers.

func putKnew(l *entry) {
	switch l.arg(0) {
	case "task":
		l.knewTask()
	case "box":
		l.knewBox()
	default:
		l.w.T.Fatalf("line %q: the ledger knows tasks and boxes", l.text)
	}
}

func (l *entry) knewTask() {
	seen := reconcile.TaskSeen{ID: l.arg(1), Status: l.arg(2), State: reconcile.TaskState(l.arg(2)),
		FirstSeen: l.w.S.Memory.Now.Add(-time.Hour)}
	seen.Since = seen.FirstSeen
	seen.Live = seen.State.Live()
	l.str("status", &seen.Status)
	l.str("sandbox", &seen.Sandbox)
	seen.Named = seen.Sandbox
	l.str("named", &seen.Named)
	l.ago("since", l.w.S.Memory.Now, &seen.Since)
	l.ago("first", l.w.S.Memory.Now, &seen.FirstSeen)
	l.ago("updated", TaskNow, &seen.UpdatedAt)
	l.ago("started", TaskNow, &seen.StartedAt)
	l.ago("stale", TaskNow, &seen.StaleStart)
	l.yes("erred", &seen.ErrorChanged)
	l.ago("recreated", l.w.S.Memory.Now, &seen.Recreated)
	l.ago("late", TaskNow, &seen.LateSign)
	l.ago("ahead", TaskNow, &seen.AheadSign)
	l.ago("aheadsince", l.w.S.Memory.Now, &seen.AheadSince)
	l.ago("beat", TaskNow, &seen.BeatAt)
	l.dur("gap", &seen.BeatGap)
	l.ago("marked", l.w.S.Memory.Now, &seen.MarkAt)
	mark := ""
	l.str("mark", &mark)
	seen.MarkSum = reconcile.Sum(mark)
	seen.Attempts = l.agos("turns", l.w.S.Memory.Now)
	was := reconcile.Task{}
	l.str("session", &was.Session)
	l.num("attempts", &was.Attempts)
	l.str("asked", &was.AttemptMark)
	l.str("tenant", &seen.Tenant)
	seen.EntrySum = was.EntrySum()
	l.w.S.Memory.Tasks.Put(seen.ID, seen)
}

func (l *entry) knewBox() {
	seen := reconcile.SandboxSeen{Ref: l.ref(1), State: reconcile.SandboxState(l.arg(2)), Raw: l.arg(2),
		FirstSeen: l.w.S.Memory.Now.Add(-time.Hour)}
	seen.StateSince = seen.FirstSeen
	l.str("task", &seen.Task)
	l.str("name", &seen.Name)
	l.str("template", &seen.Template)
	l.str("region", &seen.Region)
	l.ago("first", l.w.S.Memory.Now, &seen.FirstSeen)
	l.ago("since", l.w.S.Memory.Now, &seen.StateSince)
	l.ago("resumed", l.w.S.Memory.Now, &seen.ResumedAt)
	l.ago("worked", l.w.S.Memory.Now, &seen.WorkedAt)
	l.ago("ran", l.w.S.Memory.Now, &seen.RanAt)
	l.ago("gone", l.w.S.Memory.Now, &seen.GoneAt)
	l.ago("created", providerNow, &seen.CreatedAt)
	l.yes("ours", &seen.GoneByUs)
	l.w.S.Memory.Sandboxes.Put(seen.Ref, seen)
}

// agos are several ages of one key, oldest first, as times.
func (l *entry) agos(key string, now time.Time) []time.Time {
	var ages []string
	var out []time.Time
	l.list(key, &ages)
	for _, age := range ages {
		d, err := time.ParseDuration(age)
		if err != nil {
			l.w.T.Fatalf("line %q: %v", l.text, err)
		}
		out = append(out, now.Add(-d))
	}
	return out
}

func putFinding(l *entry) {
	f := reconcile.Finding{Rule: l.arg(0), Subject: l.arg(1), FirstSeen: l.w.S.Memory.Now.Add(-time.Hour), Sightings: 1}
	f.LastSeen, f.SightedAt = l.w.S.Memory.Now.Add(-time.Minute), l.w.S.Memory.Now.Add(-time.Minute)
	l.ago("first", l.w.S.Memory.Now, &f.FirstSeen)
	l.ago("last", l.w.S.Memory.Now, &f.LastSeen)
	l.ago("sighted", l.w.S.Memory.Now, &f.SightedAt)
	l.num("sightings", &f.Sightings)
	l.str("provider", &f.Provider)
	l.str("reason", &f.Reason)
	l.yes("due", &f.Due)
	var held []string
	l.list("held", &held)
	f.HeldBy = reconcile.HeldByOf(held...)
	l.w.S.Memory.Findings[f.Key()] = f
}

func putSource(l *entry) {
	seen := reconcile.SourceSeen{Name: l.arg(0), Trusted: l.arg(1) == "trusted",
		LastTrusted: l.w.S.Memory.Now.Add(-time.Minute)}
	seen.Since = l.w.S.Memory.Now.Add(-time.Hour)
	reason := "as before"
	if l.str("reason", &reason); !seen.Trusted {
		seen.Reason = reconcile.OldReason(reason)
	}
	l.ago("since", l.w.S.Memory.Now, &seen.Since)
	l.ago("recovered", l.w.S.Memory.Now, &seen.RecoveredAt)
	l.ago("last", l.w.S.Memory.Now, &seen.LastTrusted)
	l.ago("clock", TaskNow, &seen.Clock)
	l.ago("setback", TaskNow, &seen.SetBack)
	l.dur("beat", &seen.Beat)
	l.w.S.Memory.Sources[seen.Name] = seen
}

// putAction is an open action: ID RULE SUBJECT STEP, with box= for a terminate.
func putAction(l *entry) {
	a := reconcile.Action{ID: l.arg(0), Remedy: l.arg(0), Rule: l.arg(1), Subject: l.arg(2),
		Step:    reconcile.Step(l.arg(3)),
		Outcome: reconcile.OutcomePending, PlannedAt: l.w.S.Memory.Now.Add(-time.Minute)}
	a.Task, _ = reconcile.OfType(reconcile.SubjectTask, a.Subject)
	box, outcome := "", string(a.Outcome)
	l.str("box", &box)
	l.str("outcome", &outcome)
	a.Provider, a.Sandbox, _ = strings.Cut(box, "/")
	a.Outcome = reconcile.Outcome(outcome)
	l.str("remedy", &a.Remedy)
	l.str("signature", &a.Signature)
	l.num("seq", &a.Seq)
	l.num("attempts", &a.Attempts)
	l.str("detail", &a.Detail)
	l.ago("asked", l.w.S.Memory.Now, &a.ActedAt)
	l.ago("first", l.w.S.Memory.Now, &a.FirstActed)
	l.ago("again", l.w.S.Memory.Now, &a.AskedAt)
	l.num("asks", &a.Asks)
	l.ago("claimed", l.w.S.Memory.Now, &a.ClaimedAt)
	l.ago("planned", l.w.S.Memory.Now, &a.PlannedAt)
	l.waits(&a)
	l.w.S.Memory.Actions = append(l.w.S.Memory.Actions, a)
}

// putProbe: answered=AGE, failed=AGE,AGE… oldest first, infra=AGE; with an answer worker=alive or dead,
// and alive=AGE of when it was found alive last.
func putProbe(l *entry) {
	p := reconcile.ProbeSeen{Ref: l.ref(0), Measurements: l.w.S.Memory.Probes[l.ref(0)].Measurements}
	var failed []string
	var at time.Time
	l.list("failed", &failed)
	detail := "exec: timed out"
	l.str("detail", &detail)
	l.ago("ended", l.w.S.Memory.Now, &p.RunEnded)
	if l.ago("answered", l.w.S.Memory.Now, &p.LastAnswered); !p.LastAnswered.IsZero() {
		p.Last = reconcile.ProbeResult{Ref: p.Ref, Outcome: reconcile.Answered, At: p.LastAnswered}
	}
	for _, age := range failed {
		d, err := time.ParseDuration(age)
		if err != nil {
			l.w.T.Fatalf("line %q: %v", l.text, err)
		}
		p.Last = reconcile.ProbeResult{Ref: p.Ref, Outcome: reconcile.Hung, Detail: detail, At: l.w.S.Memory.Now.Add(-d)}
		p.Failures = append(p.Failures, p.Last)
	}
	if l.ago("infra", l.w.S.Memory.Now, &at); !at.IsZero() {
		p.Last = reconcile.ProbeResult{Ref: p.Ref, Outcome: reconcile.Infrastructure, Detail: "429", At: at}
	}
	l.str("worker", (*string)(&p.Last.Worker))
	if l.ago("alive", l.w.S.Memory.Now, &p.WorkerAt); p.Last.Worker == reconcile.WorkerAlive {
		p.WorkerAt = p.Last.At
	}
	l.w.S.Memory.Probes[p.Ref] = p
}

// putStarted: the newest sandbox that ran from a template, for example started
// daytona/light ago=72h.
func putStarted(l *entry) {
	seen := reconcile.TemplateSeen{Provider: l.ref(0).Provider, Name: l.ref(0).ID}
	l.ago("ago", providerNow, &seen.LastStart)
	l.w.S.Memory.Templates[l.ref(0)] = seen
}

func putPause(l *entry) {
	p := reconcile.Pause{Scope: l.arg(0), At: l.w.S.Memory.Now.Add(-time.Minute)}
	l.str("reason", &p.Reason)
	l.str("by", &p.Author)
	l.w.S.Memory.Controls.Pauses = append(l.w.S.Memory.Controls.Pauses, p)
}

// putHold: hold task:t1, or hold label:keep with is= for the label's value.
func putHold(l *entry) {
	h := reconcile.Hold{ID: 1, Target: l.arg(0), At: l.w.S.Memory.Now.Add(-time.Minute)}
	l.str("reason", &h.Reason)
	l.str("by", &h.Author)
	value := ""
	if l.str("is", &value); value != "" {
		h.Target += "=" + value
	}
	l.w.S.Memory.Controls.Holds = append(l.w.S.Memory.Controls.Holds, h)
}

func putRelease(l *entry) {
	r := reconcile.Release{ID: 1, What: l.arg(0), At: l.w.S.Memory.Now.Add(-time.Minute), Subjects: l.args[1:]}
	l.ago("at", l.w.S.Memory.Now, &r.At)
	l.w.S.Memory.Controls.Releases = append(l.w.S.Memory.Controls.Releases, r)
}

// putBreaker is an open breaker: its rule, then the subjects that it lists.
func putBreaker(l *entry) {
	b := l.w.S.Memory.Controls.Breakers[l.arg(0)]
	b.Rule, b.OpenedAt = l.arg(0), l.w.S.Memory.Now.Add(-time.Hour)
	b.Subjects = append(b.Subjects, l.args[1:]...)
	b.Hash = reconcile.SubjectsHash(b.Subjects)
	l.w.S.Memory.Controls.Breakers[b.Rule] = b
}

// putWatched: the ledger's own clocks do not reach further back.
func putWatched(l *entry) { l.ago("since", l.w.S.Memory.Now, &l.w.S.Memory.WatchSince) }

// putKnows are the rules that the ledger knew before this version.
func putKnows(l *entry) {
	l.w.S.Memory.Known = map[string]bool{}
	for _, name := range l.args {
		l.w.S.Memory.Known[name] = true
	}
}

// putCanary is a sandbox that sandkeeper planted: by its id, or, where that is not known, by its name.
func putCanary(l *entry) {
	c := reconcile.Canary{ID: l.arg(0), Provider: "daytona", PlantedAt: l.w.S.Memory.Now.Add(-time.Hour)}
	l.str("sandbox", &c.Sandbox)
	l.str("name", &c.Name)
	l.w.S.Memory.Canaries = append(l.w.S.Memory.Canaries, c)
}
