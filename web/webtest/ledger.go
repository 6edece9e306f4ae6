package webtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Ledger answers what the pages besides the first one ask, from a world. It knows one task and one sandbox by name:
// task 7 and daytona/sb-7.
type Ledger struct {
	World
	Lives map[string]reconcile.History // by subject, instead of those
}

// Overview is the world's own.
func (l Ledger) Overview(context.Context, int) (reconcile.Overview, error) {
	return l.World.Overview, l.Err
}

// Subject is what is known of a subject.
func (l Ledger) Subject(_ context.Context, id string) (reconcile.History, error) {
	if h, ok := l.Lives[id]; ok {
		return h, l.Err
	}
	if l.Lives == nil && (id == "task:7" || id == "sandbox:daytona/sb-7") {
		return Life(), l.Err
	}
	return reconcile.History{}, fmt.Errorf("read history of %s: %w", id, reconcile.ErrNotFound)
}

// Findings are those of the world that were chosen, in parts.
func (l Ledger) Findings(_ context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
	all := l.World.Overview.Findings
	if c.State == reconcile.ChosenResolved {
		all = l.World.Overview.Resolved
	}
	var found []reconcile.FindingSeen
	for _, f := range all {
		held := slices.ContainsFunc(f.HeldBy, func(h reconcile.Held) bool { return c.HeldBy == "" || h.String() == c.HeldBy })
		fits := (c.Rule == "" || f.Rule == c.Rule) && (c.Provider == "" || f.Provider == c.Provider) &&
			(c.HeldBy == "" || held) && (c.Incident == "" || f.Incident == c.Incident) && (c.Text == "" || f.Sandbox == c.Text)
		if fits && inState(&f, c.State) {
			found = append(found, f)
		}
	}
	if c.Most > 0 && len(found) > c.Most {
		return found[:c.Most], reconcile.Cursor{At: found[c.Most-1].OpenedAt, Key: "9"}, l.Err
	}
	return found, reconcile.Cursor{}, l.Err
}

func inState(f *reconcile.FindingSeen, state string) bool {
	switch state {
	case reconcile.ChosenDue:
		return f.Due && len(f.HeldBy) == 0
	case reconcile.ChosenHeld:
		return f.Due && len(f.HeldBy) > 0
	case reconcile.ChosenWatched:
		return !f.Due
	}
	return true
}

// Actions are those of the world that were chosen.
func (l Ledger) Actions(_ context.Context, c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
	all := l.World.Overview.Open
	if c.State == reconcile.ChosenClosed || c.Pass > 0 {
		all = l.World.Overview.Recent
	}
	var found []reconcile.Action
	for _, a := range all {
		if (c.Rule == "" || a.Rule == c.Rule) && (c.Step == "" || a.Step == c.Step) {
			found = append(found, a)
		}
	}
	return found[:min(len(found), max(c.Most, 0))], reconcile.Cursor{}, l.Err
}

// OperatorEvents are two requests.
func (l Ledger) OperatorEvents(context.Context, reconcile.Cursor, int) ([]reconcile.TimelineEvent, reconcile.Cursor, error) {
	return []reconcile.TimelineEvent{
		{At: Ago(time.Minute), Subject: "task:7", Kind: "operator", What: "hold by ana: debugging with the user"},
		{At: Ago(time.Hour), Subject: "rule:orphan", Kind: "operator", What: "mode observe by ben: drill"},
	}, reconcile.Cursor{}, l.Err
}

// PassesBelow are the world's passes below a number.
func (l Ledger) PassesBelow(_ context.Context, below int64, most int) ([]reconcile.PassSeen, error) {
	var found []reconcile.PassSeen
	for _, p := range l.World.Overview.Passes {
		if below == 0 || p.ID < below {
			found = append(found, p)
		}
	}
	return found[:min(len(found), most)], l.Err
}

// Incident is one of the world's.
func (l Ledger) Incident(_ context.Context, id string) (reconcile.Incident, error) {
	for _, i := range l.World.Overview.Incidents {
		if i.ID == id {
			return i, l.Err
		}
	}
	return reconcile.Incident{}, fmt.Errorf("read incident %s: %w", id, reconcile.ErrNotFound)
}

// BrowseIncidents are the world's.
func (l Ledger) BrowseIncidents(context.Context, reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error) {
	return l.World.Overview.Incidents, reconcile.Cursor{}, l.Err
}

// Tasks is the one that is known by name.
func (l Ledger) Tasks(context.Context, reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error) {
	return Life().Tasks, reconcile.Cursor{}, l.Err
}

// Sandboxes is the one that is known by name.
func (l Ledger) Sandboxes(context.Context, reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
	return Life().Sandboxes, reconcile.Cursor{}, l.Err
}

// NewestAffected are two tasks of each incident.
func (l Ledger) NewestAffected(context.Context, string, reconcile.Cursor, int) ([]reconcile.Verdict, reconcile.Cursor, error) {
	return Life().Verdicts, reconcile.Cursor{}, l.Err
}

// Search finds the sandbox that is known by name.
func (l Ledger) Search(_ context.Context, text string, _ int) ([]reconcile.FoundSubject, error) {
	if text == "" {
		return nil, l.Err
	}
	return []reconcile.FoundSubject{{Type: reconcile.SubjectSandbox, Provider: "daytona", ID: "sb-7", Name: text, Task: "7", State: "running", There: true}}, l.Err
}

// Report is a week of the rule orphan.
func (l Ledger) Report(context.Context, time.Duration) ([]reconcile.RuleReport, error) {
	return []reconcile.RuleReport{{Rule: "orphan", Verdicts: 31, Acted: 30, Subjects: 31, Resolved: 4, Cost: 2.5, UntilFound: 0.4, Saved: 11,
		Money:     []reconcile.RuleMoney{{Provider: "daytona", Cost: 2, UntilFound: 0.4, Saved: 11}, {Provider: "vercel", Cost: 0.5}},
		FirstSeen: Ago(6 * 24 * time.Hour)},
		{Rule: "assigned-stale", Verdicts: 81, Acted: 81, Subjects: 80, FalsePositives: 1, Examples: Life().Verdicts[:1]}}, l.Err
}

// Changed never does.
func (l Ledger) Changed(context.Context) (string, error) { return "1", l.Err }

// Listen cannot.
func (l Ledger) Listen(context.Context, func(begun bool)) error { return errors.ErrUnsupported }

// Trends are those of a day.
func (l Ledger) Trends(context.Context, time.Duration, int) (reconcile.Trends, error) {
	return Day(), l.Err
}

// Day is a day of trends: a fleet that swings, with a gap in the middle and a time in which more sandboxes than tasks
// were there.
func Day() reconcile.Trends {
	t := reconcile.Trends{From: Ago(24 * time.Hour), Slot: 15 * time.Minute, Slots: make([]reconcile.TrendSlot, 96), Leaking: .24, Saved: 41.7}
	for i := range t.Slots {
		tasks := 180 + (i%24)*(24-i%24)/4
		boxes := tasks + i%5
		if i > 70 && i < 80 {
			boxes += 60
		}
		s := &t.Slots[i]
		if i < 40 || i > 44 {
			s.Counts = map[string]int{"tasks:running": tasks, "owned:daytona": boxes}
		}
		s.Findings, s.Acted = (i*7)%11, (i*5)%7
		if i%3 == 0 {
			s.Gone = time.Duration(800+i*13) * time.Millisecond
		}
	}
	return t
}

// Life is a task whose sandbox answers nothing, with what the ledger knows of both.
func Life() reconcile.History {
	ref := reconcile.Ref{Provider: "daytona", ID: "sb-7"}
	h := reconcile.History{
		Tasks: []reconcile.TaskSeen{{ID: "7", Status: "running", State: reconcile.TaskRunning, Sandbox: "omoios-7", Tenant: "acme",
			Since: Ago(20 * time.Minute), FirstSeen: Ago(23 * time.Minute), UpdatedAt: Ago(3 * time.Minute), StartedAt: Ago(20 * time.Minute),
			BeatAt: Ago(70 * time.Second), Live: true, Attempts: []time.Time{Ago(22 * time.Minute)}}},
		Sandboxes: []reconcile.SandboxSeen{{Ref: ref, Name: "omoios-7", Task: "7", Template: "ai-agent-dev-light",
			State: reconcile.SandboxRunning, Raw: "started", CreatedAt: Ago(21 * time.Minute), FirstSeen: Ago(21 * time.Minute), StateSince: Ago(20 * time.Minute),
			RanAt: Ago(20 * time.Minute)}},
		Findings: []reconcile.FindingSeen{{OpenedAt: Ago(time.Minute), Finding: reconcile.Finding{Rule: "idle-broken", Subject: "task:7", Task: "7", Provider: "daytona",
			Sandbox: "sb-7", Reason: "exec timed out 3 times over 80s; 41 of 41 others answered", Sightings: 3, Due: true, HeldBy: reconcile.HeldByOf("budget: per_hour 200"),
			LastSeen: Ago(5 * time.Second), Evidence: []reconcile.Evidence{{Source: "daytona", At: Ago(6 * time.Second), Fact: "exec: no answer within 5s"}}}}},
		Actions: []reconcile.Action{{ID: "1k2j3h", Rule: "idle-broken", Subject: "task:7", Task: "7", Provider: "daytona", Sandbox: "sb-6", Step: reconcile.StepTerminate,
			Outcome: reconcile.OutcomeConfirmed, Reason: "exec timed out 3 times", PlannedAt: Ago(22 * time.Minute), FirstActed: Ago(22 * time.Minute), ActedAt: Ago(22 * time.Minute), ClosedAt: Ago(22*time.Minute - 1400*time.Millisecond), Pass: 88}},
		Verdicts: []reconcile.Verdict{{Number: 4, Rule: "idle-broken", Subject: "task:7", Task: "7", Provider: "daytona", Sandbox: "sb-6", Reason: "exec timed out 3 times",
			At: Ago(22 * time.Minute), Enforced: true, ActedAt: Ago(22 * time.Minute)},
			{Number: 3, Rule: "assigned-stale", Subject: "task:7", Task: "7", Reason: "worker never started", At: Ago(30 * time.Minute),
				FalsePositiveAt: Ago(29 * time.Minute), FalsePositive: "agent.heartbeat after the verdict"}},
		Timeline: []reconcile.TimelineEvent{
			{At: Ago(time.Minute), Subject: "task:7", Kind: "finding", What: "idle-broken: exec timed out 3 times over 80s"},
			{At: Ago(23 * time.Minute), Subject: "task:7", Kind: "seen", What: "first seen, status running"}},
	}
	for i, outcome := range []reconcile.ProbeOutcome{reconcile.Hung, reconcile.Hung, reconcile.CannotStart, reconcile.Answered, reconcile.Answered} {
		h.Probes = append(h.Probes, reconcile.ProbeResult{Ref: ref, Outcome: outcome, At: Ago(time.Duration(i*i*40+10) * time.Second), Took: 5 * time.Second, Detail: "exec: timed out"})
	}
	return h
}

// HostileLife is a life in which each text was written by somebody else.
func HostileLife() reconcile.History {
	h := Life()
	ref := reconcile.Ref{Provider: "daytona", ID: evil}
	h.Tasks[0].ID, h.Tasks[0].Status, h.Tasks[0].Sandbox, h.Tasks[0].Tenant = evil, evil, evil, evil
	b := &h.Sandboxes[0]
	b.Ref, b.Name, b.Task, b.Template, b.State, b.Raw = ref, evil, evil, evil, evil, evil
	f := &h.Findings[0]
	f.Rule, f.Subject, f.Sandbox, f.Task, f.Reason, f.Incident = evil, "task:"+evil, evil, evil, evil, evil
	f.Evidence = []reconcile.Evidence{{Source: evil, Fact: evil}}
	f.HeldBy = reconcile.HeldByOf("hold: task:1 (" + evil + ") by " + evil)
	a := &h.Actions[0]
	a.ID, a.Rule, a.Subject, a.Sandbox, a.Task, a.Author, a.Reason, a.Detail = evil, evil, evil, evil, evil, evil, evil, evil
	a.Step, a.Outcome, a.Evidence = evil, evil, []reconcile.Evidence{{Source: evil, Fact: evil}}
	for i := range h.Verdicts {
		v := &h.Verdicts[i]
		v.Rule, v.Subject, v.Task, v.Sandbox, v.Reason, v.FalsePositive = evil, evil, evil, evil, evil, evil
	}
	for i := range h.Timeline {
		h.Timeline[i].Subject, h.Timeline[i].Kind, h.Timeline[i].What = evil, evil, evil
	}
	for i := range h.Probes {
		h.Probes[i].Ref, h.Probes[i].Detail, h.Probes[i].Outcome, h.Probes[i].Worker = ref, evil, evil, evil
	}
	return h
}

// Evil is the text of somebody else that hostile worlds have everywhere.
const Evil = evil
