// Package webtest has readings of the ledger that the page has to tell from each other, for the tests
// of what is shown and of what serves it.
package webtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Noon is the ledger's now in all worlds.
var Noon = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// Ago is so long before noon.
func Ago(d time.Duration) time.Time { return Noon.Add(-d) }

// A World is what a reading of the ledger gave; the page's Reading has the same fields.
type World struct {
	Number   int64
	Overview reconcile.Overview
	Trends   *reconcile.Trends
	Err      error
	Past     *reconcile.Overview
	Unready  error
}

// Worlds are readings of the ledger that the page has to tell from each other.
func Worlds() map[string]World {
	day, healthy := Day(), Healthy()
	return map[string]World{
		"healthy":     {Overview: Healthy(), Trends: &day},
		"past":        {Err: errors.New("connect to 10.0.0.5:5432: connection refused"), Past: &healthy, Trends: &day},
		"recovered":   {Overview: With(Incident(), Recover)},
		"empty":       {Overview: Empty()},
		"fresh":       {Overview: reconcile.Overview{Now: Noon, Fresh: true}, Unready: errors.New("no schema")},
		"never_ran":   {Overview: reconcile.Overview{Now: Noon, Installation: "prod-eu"}},
		"starting":    {Overview: Starting()},
		"stale":       {Overview: With(Healthy(), func(o *reconcile.Overview) { o.Now = Noon.Add(6 * time.Minute) })},
		"failed":      {Overview: With(Held(), FailListing)},
		"waiting":     {Overview: With(With(Healthy(), Repair), Refuse)},
		"incomplete":  {Overview: With(Healthy(), BreakPass)},
		"frozen":      {Overview: With(Held(), Freeze), Trends: &day},
		"breaker":     {Overview: With(Held(), Trip)},
		"held":        {Overview: With(Held(), operate), Unready: errors.New("schema version 1, want 2")},
		"observing":   {Overview: Held()},
		"template":    {Overview: With(Healthy(), Spoil)},
		"repairing":   {Overview: With(Healthy(), Repair)},
		"unconfirmed": {Overview: With(With(Healthy(), Repair), Linger)},
		"incident":    {Overview: Incident()},
		"released":    {Overview: With(Incident(), Release)},
		"demoted":     {Overview: With(Healthy(), Demote)},
		"quarantine":  {Overview: With(Healthy(), Suspend)},
		"hostile":     {Overview: Hostile()},
		"many":        {Overview: Many()},
		"down":        {Err: errors.New("connect to 10.0.0.5:5432: connection refused")},
	}
}

// With is a world with one change.
func With(o reconcile.Overview, change func(*reconcile.Overview)) reconcile.Overview {
	change(&o)
	return o
}

// Healthy is a fleet in which everything agrees.
func Healthy() reconcile.Overview {
	o := reconcile.Overview{
		Now: Noon, Installation: "prod-eu", LastPass: Ago(3 * time.Second), LastFull: Ago(12 * time.Second),
		Lease: reconcile.Lease{Holder: "sandkeeper-0", Epoch: 7, Until: Noon.Add(12 * time.Second)},
		Counts: map[string]int{
			"tasks:pending": 3, "tasks:assigned": 9, "tasks:running": 200, "owned:daytona": 214, "foreign:daytona": 5,
			"sandboxes:daytona:running": 210, "sandboxes:daytona:creating": 4,
		},
		FindingsOpen: map[string]int{}, CallsAhead: map[string]time.Duration{"daytona": 0},
		Templates: []reconcile.TemplateSeen{
			{Provider: "daytona", Name: "ai-agent-dev-light", State: reconcile.TemplateActive, Raw: "active", LookedAt: Ago(12 * time.Second)},
		},
		Resolved: []reconcile.FindingSeen{{
			Finding:  reconcile.Finding{Rule: "orphan", Subject: "sandbox:daytona/sb-77", Reason: "no task explains it"},
			OpenedAt: Ago(9 * time.Minute), ResolvedAt: Ago(2 * time.Minute),
		}},
		Recent: []reconcile.Action{{
			ID: "1k2j3h", Rule: "orphan", Subject: "sandbox:daytona/sb-77", Provider: "daytona", Sandbox: "sb-77",
			Step: reconcile.StepTerminate, Reason: "no task explains it, seen 2 times", Outcome: reconcile.OutcomeConfirmed,
			PlannedAt: Ago(3 * time.Minute), ActedAt: Ago(2*time.Minute + 2200*time.Millisecond), ClosedAt: Ago(2*time.Minute + time.Second),
		}},
	}
	for i := range 4 {
		kind := reconcile.Quick
		if i == 1 {
			kind = reconcile.Full
		}
		end := Ago(time.Duration(3+9*i) * time.Second)
		o.Passes = append(o.Passes, reconcile.PassSeen{
			ID: int64(90 - i), Kind: kind, Holder: "sandkeeper-0", Complete: true, BeganAt: end.Add(-430 * time.Millisecond), EndedAt: end,
		})
	}
	for _, name := range []string{"events", "link", "listing:daytona", "probes:daytona", "tasks"} {
		o.Sources = append(o.Sources, reconcile.SourceSeen{Name: name, Trusted: true, Since: Ago(26 * time.Hour), LastTrusted: Ago(3 * time.Second)})
	}
	return o
}

// Empty has passes, and nothing to look after yet.
func Empty() reconcile.Overview {
	return reconcile.Overview{
		Now: Noon, LastPass: Ago(time.Second), LastFull: Ago(time.Second),
		Passes: []reconcile.PassSeen{{ID: 1, Kind: reconcile.Full, Holder: "host", BeganAt: Ago(time.Second), EndedAt: Ago(time.Second), Complete: true}},
		Counts: map[string]int{"tasks:pending": 0, "tasks:assigned": 0, "tasks:running": 0, "owned:daytona": 0},
	}
}

// Starting has begun its first pass and completed none.
func Starting() reconcile.Overview {
	return reconcile.Overview{
		Now: Noon, Installation: "prod-eu", Lease: reconcile.Lease{Holder: "a", Until: Noon.Add(9 * time.Second)},
		Passes: []reconcile.PassSeen{{ID: 1, Kind: reconcile.Full, Holder: "a", BeganAt: Ago(3 * time.Second)}},
	}
}

// BreakPass lets the last pass end before it was complete.
func BreakPass(o *reconcile.Overview) {
	o.Passes[1].Complete, o.Passes[1].Error = false, "list daytona: 503 Service Unavailable"
	o.LastFull = Ago(2 * time.Minute)
}

// FailListing is a full pass that could not list its provider.
func FailListing(o *reconcile.Overview) {
	BreakPass(o)
	o.Passes[1].Error = "listing of daytona: GET /sandbox: 500 Internal Server Error"
	o.Sources[2] = reconcile.SourceSeen{Name: "listing:daytona", Since: Ago(12 * time.Second), LastTrusted: Ago(2 * time.Minute),
		Reason: reconcile.ListingFailed("GET /sandbox: 500 Internal Server Error")}
	for _, key := range []string{"owned:daytona", "foreign:daytona", "sandboxes:daytona:running", "sandboxes:daytona:creating"} {
		delete(o.Counts, key)
	}
}

// Held has five findings that only observing keeps from being repaired.
func Held() reconcile.Overview {
	o := Healthy()
	for i := range 5 {
		opened := Ago(time.Duration(20-i) * time.Minute)
		o.Findings = append(o.Findings, reconcile.FindingSeen{OpenedAt: opened, Finding: reconcile.Finding{
			Rule: "orphan", Subject: fmt.Sprintf("sandbox:daytona/sb-%d", i), Provider: "daytona", Sandbox: fmt.Sprintf("sb-%d", i),
			Reason: "no task explains it, live or finished", FirstSeen: opened, LastSeen: Ago(12 * time.Second), Sightings: 9,
			Due: i > 0, HeldBy: reconcile.HeldByOf("observe"),
			Evidence: []reconcile.Evidence{
				{Source: "daytona", At: Ago(13 * time.Second), Fact: "state started, created 2026-02-01 11:30:00, label task_id is missing"},
				{Source: "tasks", At: Ago(12 * time.Second), Fact: "no row has this sandbox"},
			},
		}})
	}
	o.FindingsOpen = map[string]int{"orphan": 5}
	return o
}

// Freeze takes the trust from a listing, which holds all findings.
func Freeze(o *reconcile.Overview) {
	o.Sources[2] = reconcile.SourceSeen{Name: "listing:daytona", Since: Ago(95 * time.Second), LastTrusted: Ago(100 * time.Second),
		Reason: reconcile.ListingLost(150, 214, "but sb-3, got by id, is running")}
	for i := range o.Findings {
		o.Findings[i].HeldBy = reconcile.HeldByOf("listing-untrusted daytona", "observe")
	}
}

// Trip opens a breaker.
func Trip(o *reconcile.Overview) {
	b := reconcile.Breaker{Rule: "orphan", OpenedAt: Ago(4 * time.Minute), Hash: "2f9k1"}
	for i := range o.Findings {
		o.Findings[i].Due = true
		o.Findings[i].HeldBy = reconcile.HeldByOf("breaker: 5 due of a fleet of 14 exceed 30%; release with: sandkeeper release orphan --hash 2f9k1")
		b.Subjects = append(b.Subjects, o.Findings[i].Subject)
	}
	o.Controls.Breakers = map[string]reconcile.Breaker{"orphan": b}
}

// operate is what operators asked for.
func operate(o *reconcile.Overview) {
	o.Findings[1].HeldBy = reconcile.HeldByOf("pause: all (drill) by ana", "hold: sandbox:sb-1 (customer is in it) by ben")
	o.Findings[2].HeldBy = reconcile.HeldByOf("budget: per_pass 20")
	o.Controls = reconcile.Controls{
		Modes:  map[string]reconcile.Mode{"duplicate": reconcile.Observe},
		Pauses: []reconcile.Pause{{Scope: "all", Reason: "drill", Author: "ana", At: Ago(time.Minute), Until: Noon.Add(2 * time.Hour)}},
		Holds:  []reconcile.Hold{{ID: 4, Target: "sandbox:sb-1", Reason: "customer is in it", Author: "ben", At: Ago(time.Hour)}},
		Releases: []reconcile.Release{{ID: 9, What: "breaker:orphan", Subjects: []string{"sandbox:daytona/sb-8"}, Reason: "checked by hand",
			Author: "ana", At: Ago(time.Minute), Until: Noon.Add(time.Hour)}},
	}
}

// Spoil makes a template unusable.
func Spoil(o *reconcile.Overview) {
	o.Templates = append(o.Templates,
		reconcile.TemplateSeen{Provider: "daytona", Name: "ai-agent-dev-heavy", State: reconcile.TemplateInactive, Raw: "inactive",
			Error: "deactivated after 14 days without use", LastStart: Ago(15 * 24 * time.Hour), LookedAt: Ago(12 * time.Second)},
		reconcile.TemplateSeen{Provider: "daytona", Name: "nightly", State: reconcile.TemplateActive, Raw: "active",
			ExpiresAt: Noon.Add(30 * time.Hour), LookedAt: Ago(12 * time.Second)},
		reconcile.TemplateSeen{Provider: "daytona", Name: "next", State: reconcile.TemplateBuilding, Raw: "pulling", LookedAt: Ago(12 * time.Second)},
	)
	o.Findings = append(o.Findings, reconcile.FindingSeen{OpenedAt: Ago(40 * time.Minute), Finding: reconcile.Finding{
		Rule: "template-unusable", Subject: "template:daytona/ai-agent-dev-heavy", Provider: "daytona", Due: true, Sightings: 20,
		Reason:   `snapshot "ai-agent-dev-heavy" is inactive, last successful start from it 2026-01-17 12:00:00`,
		LastSeen: Ago(12 * time.Second),
	}})
	o.FindingsOpen = map[string]int{"template-unusable": 1}
}

// Repair has steps in every state of their life.
func Repair(o *reconcile.Overview) {
	o.Findings = []reconcile.FindingSeen{{OpenedAt: Ago(5 * time.Minute), Finding: reconcile.Finding{
		Rule: "assigned-stale", Subject: "task:8c02ffe6", Task: "8c02ffe6", Provider: "daytona", Sandbox: "sb-5", Due: true, Sightings: 3,
		Reason: "worker never started: assigned for 3m, no event ever", LastSeen: Ago(3 * time.Second),
	}}}
	o.FindingsOpen = map[string]int{"assigned-stale": 1}
	terminate := reconcile.Action{
		Rule: "assigned-stale", Subject: "task:8c02ffe6", Task: "8c02ffe6", Provider: "daytona", Sandbox: "sb-5",
		Step: reconcile.StepTerminate, Reason: "worker never started", PlannedAt: Ago(20 * time.Second), Outcome: reconcile.OutcomePending,
	}
	add := func(id string, change func(*reconcile.Action)) {
		a := terminate
		a.ID = id
		change(&a)
		o.Open = append(o.Open, a)
	}
	add("a1", func(a *reconcile.Action) { a.Outcome, a.ActedAt = reconcile.OutcomeAccepted, Ago(15*time.Second) })
	add("a2", func(a *reconcile.Action) { a.ClaimedBy, a.ClaimEnds = "sandkeeper-1", Noon.Add(9*time.Second) })
	add("a3", func(a *reconcile.Action) { a.Attempts, a.NextAttempt = 2, Noon.Add(8*time.Second) })
	add("a4", func(a *reconcile.Action) { a.Attempts = 1 })
	add("a5", func(a *reconcile.Action) { a.Sandbox, a.Step = "", reconcile.StepFail })
	o.OpenTotal = 7
	row := terminate
	row.ID, row.Step, row.Outcome, row.ClosedAt = "b1", reconcile.StepFail, reconcile.OutcomeDone, Ago(19*time.Second)
	withdrawn := terminate
	withdrawn.ID, withdrawn.Outcome, withdrawn.ClosedAt = "b2", reconcile.OutcomeWithdrawn, Ago(time.Minute)
	withdrawn.Detail = "it answered a probe at 11:58:59"
	failed := terminate
	failed.ID, failed.Outcome, failed.ClosedAt = "b3", reconcile.OutcomeFailed, Ago(2*time.Minute)
	failed.Detail = "log saved:\n" + strings.Repeat("npm ERR! code 137\n", 20)
	o.Recent = append([]reconcile.Action{row, withdrawn, failed}, o.Recent...)
}

// Linger is a sandbox that is still there long after its provider accepted to end it.
func Linger(o *reconcile.Overview) { o.Open[0].ActedAt = Ago(5 * time.Minute) }

// evil is a name that somebody chose to do harm.
const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202egnp.exe\u2066\x1b[31m\x00\u200b"

// Refuse makes the provider refuse the second open step.
func Refuse(o *reconcile.Overview) {
	o.CallsAhead = map[string]time.Duration{"daytona": 12400 * time.Millisecond}
	a := &o.Open[1]
	a.ClaimedBy, a.ClaimEnds, a.Attempts, a.NextAttempt = "", time.Time{}, 6, Noon.Add(30*time.Minute)
	a.How = reconcile.HowRefused
	a.Detail = "refused by the provider: 403 Forbidden; tried again from 2026-02-01 12:30:00"
}

// Hostile is written by somebody who controls names, reasons and logs.
func Hostile() reconcile.Overview {
	o := Held()
	o.Installation = "prod" + evil
	o.Lease.Holder = evil
	o.Findings = o.Findings[:2]
	for i := range o.Findings {
		f := &o.Findings[i]
		f.Subject, f.Sandbox, f.Provider, f.Task = "sandbox:"+evil, evil, "javascript:alert(1)", "-x; rm -rf / $(id)"
		f.Reason, f.HeldBy = evil+strings.Repeat("A", 100_000), reconcile.HeldByOf(evil+strings.Repeat(" B", 100_000))
		f.Evidence = []reconcile.Evidence{{Source: evil, Fact: strings.Repeat("\u0301", 50) + evil}}
	}
	o.FindingsOpen = map[string]int{evil: 2}
	o.Sources[0] = reconcile.SourceSeen{Name: "listing:" + evil, Reason: reconcile.Said(evil), Since: Ago(time.Hour)}
	o.Templates[0] = reconcile.TemplateSeen{Provider: evil, Name: evil, Raw: evil, Error: evil}
	o.Recent[0].Detail = evil + "\n" + strings.Repeat("\u202elog <b>line</b>\r\n", 2000)
	o.Recent[0].Sandbox = evil
	o.Controls = reconcile.Controls{
		Pauses: []reconcile.Pause{{Scope: "rule:" + evil, Reason: evil, Author: evil}},
		Holds:  []reconcile.Hold{{Target: "task:" + evil, Reason: evil, Author: evil}},
	}
	o.Controls.Modes = map[string]reconcile.Mode{evil: reconcile.Observe, "orphan": reconcile.Observe}
	o.Controls.Lowered = map[string]reconcile.Lowering{"orphan": {Attribution: reconcile.Attribution{Author: evil, Reason: evil}}}
	o.Incidents = []reconcile.Incident{{ID: evil, Signature: evil, Rule: evil, Provider: evil, Template: evil, Error: evil + strings.Repeat("E", 100_000),
		Cause: evil, Evidence: []reconcile.Evidence{{Source: evil, Fact: strings.Repeat("log <b>"+evil+"\n", 2000)}}, Count: 5, LastSeen: Ago(time.Hour)}}
	o.FalsePositives = []reconcile.Verdict{{Rule: evil, Subject: evil, Task: evil, Reason: evil, FalsePositive: evil, FalsePositiveAt: Noon}}
	o.Tallies = map[string]reconcile.Tally{evil: {Verdicts: 3, FalsePositives: 1}}
	o.Scores.Ended = map[string]int{evil: 3}
	o.Open = []reconcile.Action{{ID: "q", Seq: 1, Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, NextAttempt: Noon.Add(time.Hour),
		Provider: evil, Sandbox: evil, Task: evil, Rule: evil, Reason: evil, Author: evil, PlannedAt: Ago(time.Hour), Evidence: []reconcile.Evidence{{Source: "quarantine"}}}}
	o.Passes[0].Holder, o.Passes[0].Error, o.Passes[0].Complete = evil, evil, false
	o.Resolved[0].Reason, o.Resolved[0].Subject = evil, "task:"+evil
	return o
}

// MostRead is how much of each list is read for the page.
const MostRead = 300

// Many has more of everything than the page shows.
func Many() reconcile.Overview {
	o := Held()
	one := o.Findings[1]
	o.Findings = nil
	for i := range MostRead {
		f := one
		f.Subject, f.Sandbox = fmt.Sprintf("sandbox:daytona/sb-%d", i), fmt.Sprintf("sb-%d", i)
		f.Reason = fmt.Sprintf("no task explains it, reason %d", i%9)
		o.Findings = append(o.Findings, f)
	}
	o.FindingsOpen = map[string]int{"orphan": 500, "errored": 12}
	for i := range 40 {
		a := o.Recent[0]
		a.ID = fmt.Sprint("r", i)
		o.Recent = append(o.Recent, a)
		a.ID, a.Outcome, a.Sandbox = fmt.Sprint("o", i), reconcile.OutcomePending, "elsewhere"
		o.Open = append(o.Open, a)
		o.Resolved = append(o.Resolved, o.Resolved[0])
	}
	o.OpenTotal = 60
	return o
}

// Incident has 37 failures with one cause, which hold their terminates.
func Incident() reconcile.Overview {
	o := With(Healthy(), Spoil)
	o.Incidents = []reconcile.Incident{{
		ID: "i-3k9f2", Signature: "s1", Rule: "assigned-stale", Provider: "daytona", Template: "ai-agent-dev-heavy",
		Error: "sandbox creation failed: snapshot # is inactive", OpenedAt: Ago(50 * time.Minute), FirstSeen: Ago(55 * time.Minute),
		LastSeen: Ago(2 * time.Minute), Count: 37, Cost: 4.318,
		Cause: `snapshot "ai-agent-dev-heavy" is inactive at daytona; last successful start from it 2026-01-17 12:00:00`,
		Evidence: []reconcile.Evidence{
			{Source: "daytona", At: Ago(12 * time.Second), Fact: `snapshot "ai-agent-dev-heavy" is inactive`},
			{Source: "ledger", At: Ago(2 * time.Minute), Fact: "37 of 37 failures need it, and none of 212 healthy tasks does"},
		},
	}, {
		ID: "i-1aa00", Signature: "s0", Rule: "heartbeat-lost", Provider: "daytona", Cause: "region us-east",
		OpenedAt: Ago(9 * time.Hour), FirstSeen: Ago(9 * time.Hour), LastSeen: Ago(8 * time.Hour), ClosedAt: Ago(7 * time.Hour), Count: 6,
	}}
	o.Findings = append(o.Findings, reconcile.FindingSeen{OpenedAt: Ago(50 * time.Minute), Finding: reconcile.Finding{
		Rule: "systemic", Subject: "incident:i-3k9f2", Provider: "daytona", Due: true, Sightings: 40, Reason: "37 failures alike"}})
	for i := range 12 {
		f := reconcile.FindingSeen{OpenedAt: Ago(time.Duration(30-i) * time.Minute), Finding: reconcile.Finding{
			Rule: "assigned-stale", Subject: fmt.Sprintf("task:%d", 100+i), Task: fmt.Sprint(100 + i), Provider: "daytona", Due: true,
			Reason: fmt.Sprintf("worker of task %d never started: snapshot is inactive", 100+i)}}
		if i%3 > 0 {
			f.HeldBy = reconcile.HeldByOf("incident: i-3k9f2")
		} else {
			o.Recent = append(o.Recent, reconcile.Action{ID: fmt.Sprint("f", i), Rule: f.Rule, Subject: f.Subject, Task: f.Task, Signature: "s1",
				Step: reconcile.StepFail, Outcome: reconcile.OutcomeDone, ClosedAt: Ago(time.Minute), Reason: f.Reason})
		}
		o.Findings = append(o.Findings, f)
	}
	other := o.Findings[len(o.Findings)-1]
	other.Subject, other.Task, other.HeldBy = "task:7", "7", nil
	other.Reason, other.Due = "assigned, no start seen yet", false
	o.Findings = append(o.Findings, other)
	o.FindingsOpen = map[string]int{"template-unusable": 1, "systemic": 1, "assigned-stale": 13}
	o.Scores = scores()
	return o
}

// scores are those of a day on which not all went well, and not all was measured.
func scores() reconcile.Scores {
	return reconcile.Scores{
		Window: 24 * time.Hour, Asked: 200, Confirmed: 199, Gone: 190, GoneFast: 189, Stops: 20, StopsFast: 4,
		StopGone: reconcile.Quantiles{Count: 20, P50: 8200 * time.Millisecond, P95: 21 * time.Second},
		Stuck:    40, StuckFast: 40, Ended: map[string]int{"completed": 1840, "failed": 61, "stopped": 20}, Inactive: 3,
		Probes: 900, ProbesFailed: 9, Before: 20_000, BeforeFailed: 180, Active: 214, Live: 212,
	}
}

// Recover is the template of the incident that is active again.
func Recover(o *reconcile.Overview) {
	o.Templates = slices.Clone(o.Templates)
	for i := range o.Templates {
		if o.Templates[i].Name == "ai-agent-dev-heavy" {
			o.Templates[i].State, o.Templates[i].Raw, o.Templates[i].Error = reconcile.TemplateActive, "active", ""
		}
	}
	o.Findings = slices.DeleteFunc(slices.Clone(o.Findings), func(f reconcile.FindingSeen) bool { return f.Rule == "template-unusable" })
}

// Release is an operator who let go what an incident held.
func Release(o *reconcile.Overview) {
	o.Incidents[0].ReleasedAt = Ago(time.Minute)
	o.Incidents[0].ReleasedBy = reconcile.Attribution{Author: "ana", Reason: "the snapshot is active again"}
}

// Demote is a rule that took healthy workers for dead, and that sandkeeper itself disarmed.
func Demote(o *reconcile.Overview) {
	o.Controls.Modes = map[string]reconcile.Mode{"assigned-stale": reconcile.Observe, "duplicate": reconcile.Off}
	o.Controls.Lowered = map[string]reconcile.Lowering{
		"assigned-stale": {At: Ago(20 * time.Minute), Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf,
			Reason: "3 of its last 81 verdicts came back to life, more than 2 %"}},
		"duplicate": {At: Ago(time.Hour), Attribution: reconcile.Attribution{Author: "ben", Reason: "drill"}},
	}
	o.Tallies = map[string]reconcile.Tally{
		"assigned-stale": {Verdicts: 81, FalsePositives: 3}, "heartbeat-lost": {Verdicts: 100, FalsePositives: 1}, "sandbox-missing": {Verdicts: 9}, "inactive": {},
		"orphan": {Verdicts: 40}, "errored": {Verdicts: 12}, "duplicate": {}}
	for i := range 4 {
		v := reconcile.Verdict{
			Number: int64(40 + i), Rule: "assigned-stale", Subject: fmt.Sprintf("task:%d", 90+i), Task: fmt.Sprint(90 + i), At: Ago(35 * time.Minute),
			Reason: "worker never started: assigned for 3m, no event ever", FalsePositiveAt: Ago(time.Duration(20+i) * time.Minute),
			FalsePositive: "agent.heartbeat at 11:39:58, after the verdict, in the same attempt", Enforced: i > 0,
		}
		switch i {
		case 1, 2:
			v.FailedAt, v.ActedAt = v.At, v.At
		case 3:
			v.ActedAt = v.At
		}
		o.FalsePositives = append(o.FalsePositives, v)
	}
}

// Suspend has a sandbox that was stopped and can come back, one that is only about to be
// stopped, and what operators asked for.
func Suspend(o *reconcile.Overview) {
	later := reconcile.Action{ID: "q1", Remedy: "q0", Seq: 1, Rule: "assigned-stale", Subject: "sandbox:daytona/sb-5", Provider: "daytona", Sandbox: "sb-5",
		Task: "41", Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, Reason: "worker never started: assigned for 3m, no event ever",
		PlannedAt: Ago(10 * time.Minute), NextAttempt: Noon.Add(23*time.Hour + 50*time.Minute),
		Evidence: []reconcile.Evidence{{Source: "quarantine", At: Ago(10 * time.Minute), Fact: "stopped or paused first, and kept for 24h"}}}
	next := later
	next.ID, next.Remedy, next.Sandbox, next.Task = "q3", "q2", "sb-6", ""
	begun := next
	begun.ID, begun.Seq, begun.Step, begun.NextAttempt = "q2", 0, reconcile.StepQuarantine, time.Time{}
	begun.ClaimedBy, begun.ClaimEnds = "sandkeeper-0", Noon.Add(9*time.Second)
	asked := later
	asked.ID, asked.Remedy, asked.Sandbox, asked.Rule, asked.Author, asked.Reason = "q5", "q4", "sb-7", reconcile.RuleOperator, "ana", "suspicious traffic"
	o.Open, o.OpenTotal = []reconcile.Action{later, begun, next, asked}, 4
	add := func(id, rule string, step reconcile.Step, change func(*reconcile.Action)) {
		a := reconcile.Action{ID: id, Rule: rule, Step: step, Provider: "daytona", Sandbox: "sb-8", Task: "44", Author: "ana", Reason: "it was fine",
			Outcome: reconcile.OutcomeDone, ActedAt: Ago(2 * time.Minute), ClosedAt: Ago(2 * time.Minute)}
		change(&a)
		o.Recent = append(o.Recent, a)
	}
	same := func(*reconcile.Action) {}
	add("p1", reconcile.RuleOperator, reconcile.StepResume, same)
	add("p2", reconcile.RuleOperator, reconcile.StepRestore, func(a *reconcile.Action) { a.Sandbox = "" })
	add("p3", reconcile.RuleEmergency, reconcile.StepTerminate, func(a *reconcile.Action) { a.Outcome, a.Task = reconcile.OutcomeConfirmed, "" })
	add("p4", "template-unusable", reconcile.StepActivate, func(a *reconcile.Action) {
		a.Subject, a.Sandbox, a.Task, a.Author, a.Outcome = "template:daytona/light", "", "", "", reconcile.OutcomeConfirmed
	})
}

// Policy is one with rules that observe, and with some that are armed.
func Policy() reconcile.Policy {
	rules := map[string]reconcile.RulePolicy{}
	for _, name := range []string{
		"finished-unrecorded", "assigned-stale", "sandbox-missing", "heartbeat-lost", "deadline-exceeded", "stop-ignored",
		"finished-lingering", "orphan", "duplicate", "provisioning-stuck", "idle-broken", "errored", "template-unusable",
	} {
		rules[name] = reconcile.RulePolicy{Mode: reconcile.Observe, Rollout: 100, Ahead: 48 * time.Hour}
	}
	rules["orphan"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 25}
	rules["duplicate"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100}
	rules["assigned-stale"] = reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100}
	rules["errored"] = reconcile.RulePolicy{Mode: reconcile.Off}
	return reconcile.Policy{Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: rules,
		Proof:     reconcile.ProofPolicy{FalsePositives: 0.02, Samples: 200},
		Tasks:     reconcile.TasksPolicy{Events: true, Heartbeats: true, Requeues: true},
		Providers: map[string]reconcile.ProviderPolicy{"daytona": {}, "e2b": {}, evil: {}}}
}

// PassesOf are passes that ended, newest first; q is quick, f full, - one that never ended.
func PassesOf(kinds string) []reconcile.PassSeen {
	var out []reconcile.PassSeen
	for i, k := range kinds {
		p := reconcile.PassSeen{Kind: reconcile.Quick, BeganAt: Ago(time.Duration(i) * time.Second), EndedAt: Ago(time.Duration(i) * time.Second)}
		switch k {
		case 'f':
			p.Kind = reconcile.Full
		case '-':
			p.EndedAt = time.Time{}
		}
		out = append(out, p)
	}
	return out
}
