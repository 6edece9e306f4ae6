package backtest

import (
	"slices"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// somewhere is the provider of a platform whose config names none.
const somewhere = "history"

// A crowd is what the other running tasks did at a moment, as far as freezes ask.
type crowd struct {
	running   int       // besides the one that is judged
	newest    time.Time // newest sign of any of them
	active    time.Time // newest activity of any of them
	recovered time.Time // when the events came back last; zero for never
}

// A Moment is one look at one task of the history, as a pass would have had it.
type Moment struct {
	Life *Life
	At   time.Time

	crowd crowd
	asked reconcile.TaskState // the state that the rule is about, see [Life.stateAt]
}

// Policy is a config's policy for moments of the past. Nothing of sandboxes is on record, so each task has one
// that runs and whose probe fails: the rule alone is asked, and nothing speaks for the worker besides what it did.
func Policy(p *reconcile.Policy, rule string, after func(*reconcile.RulePolicy)) *reconcile.Policy {
	out := *p
	out.Rules = make(map[string]reconcile.RulePolicy, len(p.Rules))
	for name, settings := range p.Rules {
		out.Rules[name] = settings
	}
	own := out.Rules[rule]
	if own.Mode == "" || own.Mode == reconcile.Off {
		own.Mode = reconcile.Observe
	}
	after(&own)
	out.Rules[rule] = own
	out.Providers = map[string]reconcile.ProviderPolicy{}
	for _, name := range append(p.ProviderNames(), somewhere) {
		out.Providers[name] = reconcile.ProviderPolicy{Name: name, Exclusive: true, LinkSandbox: true, SandboxIsID: true,
			Probe: reconcile.ProbePolicy{Exec: "true", Every: 10 * time.Minute, Timeout: 5 * time.Second}}
	}
	out.Tasks.SandboxKnown, out.Tasks.FailsRows, out.Tasks.Tenants = true, true, false
	out.Tasks.KeepSandboxes, out.Tasks.ExplainedBy = false, nil
	return &out
}

// asIs leaves a rule as the config has it.
func asIs(*reconcile.RulePolicy) {}

// lowered is the rule at its lowest threshold, so that it tells of each span that it would count.
func lowered(rule string) func(*reconcile.RulePolicy) {
	return func(p *reconcile.RulePolicy) {
		p.After, p.Overrides = max(reconcile.RuleNamed(rule).Floor, time.Second), nil
	}
}

// Finds reports whether the rule would have acted at the moment, were it armed: found, due, and held by nothing.
func (m Moment) Finds(p *reconcile.Policy, rule string) bool {
	v := view.New(m.snapshot(p), p)
	subjects := v.Assess(v.Subjects)
	for i := range subjects {
		s := &subjects[i]
		if s.Task == nil || s.Task.ID != m.Life.Task.ID {
			continue
		}
		return acts(decide.Decide(v, s), p, rule)
	}
	return false
}

func acts(d decide.Decision, p *reconcile.Policy, rule string) bool {
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Rule != rule {
			continue
		}
		onlyTold := d.Remedies[i] == reconcile.Report && p.Rules[rule].Remedy != reconcile.Report
		return f.Due && len(f.HeldBy) == 0 && !onlyTold
	}
	return false
}

// snapshot is all that a pass would have seen.
func (m Moment) snapshot(p *reconcile.Policy) *reconcile.Snapshot {
	at := m.At
	state, since := m.Life.stateAt(at, m.asked)
	t := m.Life.rowAt(at)
	t.State, t.Status, t.Outside, t.Tenant = state, string(state), false, ""
	if p.Providers[t.Provider].Name == "" {
		t.Provider = p.ProviderNames()[0]
	}
	s := &scene{at: at, provider: t.Provider, failures: max(p.Rules["idle-broken"].Failures, 1)}
	s.Snapshot = reconcile.Snapshot{Kind: reconcile.Full, T0: at,
		Clock: reconcile.TaskClock{Now: at}, Rows: map[string]reconcile.Task{},
		Memory: reconcile.Memory{Now: at, LastPass: at.Add(-p.Quick), LastFull: at.Add(-p.Full),
			Probes:  map[reconcile.Ref]reconcile.ProbeSeen{},
			Sources: map[string]reconcile.SourceSeen{}}}
	s.witnesses(p)
	s.crowd(m.crowd)
	s.subject(t, since)
	s.Listings = map[string]reconcile.ListingSeen{}
	for name := range p.Providers {
		s.Listings[name] = reconcile.ListingSeen{Listing: reconcile.Listing{Provider: name, Date: at, Complete: true},
			Owned: len(s.Sandboxes)}
	}
	reconcile.SortSandboxes(&s.Snapshot)
	s.Weigh()
	return &s.Snapshot
}

// A scene is a snapshot that is being made.
type scene struct {
	reconcile.Snapshot
	at       time.Time
	provider string
	failures int // probes in a row, of one that fails
}

// subject adds the task that is judged. One that was handed out and has not begun has no sandbox yet.
func (s *scene) subject(t reconcile.Task, since time.Time) {
	box := "of " + t.ID
	t.Sandbox = box
	if t.State == reconcile.TaskPending || t.State == reconcile.TaskAssigned {
		t.Sandbox = ""
	} else {
		s.box(box, t.ID, reconcile.Hung)
	}
	if t.State.Live() {
		s.Tasks = append(s.Tasks, t)
	} else {
		s.Rows[t.ID] = t
	}
	s.Memory.Tasks.Put(t.ID, reconcile.TaskSeen{ID: t.ID, Status: t.Status, State: t.State, Sandbox: t.Sandbox,
		Named: t.Sandbox, Since: since, FirstSeen: since, UpdatedAt: t.UpdatedAt, StartedAt: t.StartedAt,
		EntrySum: t.EntrySum(), Live: t.State.Live()})
}

// box adds a sandbox that runs, and how its newest probes went.
func (s *scene) box(id, task string, probe reconcile.ProbeOutcome) {
	ref := reconcile.Ref{Provider: s.provider, ID: id}
	s.Sandboxes = append(s.Sandboxes, reconcile.Sandbox{Ref: ref, Name: id, Raw: "running",
		State: reconcile.SandboxRunning, Owned: true, Task: task, SandboxKey: id, AsOf: s.at})
	result := reconcile.ProbeResult{Ref: ref, Outcome: probe, Detail: "as the worst case", At: s.at}
	seen := reconcile.ProbeSeen{Ref: ref, Last: result}
	if probe.Failed() {
		seen.Failures = slices.Repeat([]reconcile.ProbeResult{result}, s.failures)
	} else {
		seen.LastAnswered = s.at
	}
	s.Memory.Probes[ref] = seen
}

// witnesses adds what tells that the provider and the link work: sandboxes that answer, one of them of a task that
// waits to be handed out. Where workers send heartbeats, that one tells so.
func (s *scene) witnesses(p *reconcile.Policy) {
	for _, id := range []string{"witness 1", "witness 2"} {
		s.box(id, "", reconcile.Answered)
	}
	one := reconcile.Task{ID: "witness", Status: "pending", State: reconcile.TaskPending, AsOf: s.at,
		Provider: s.provider, CreatedAt: s.at, Sandbox: "witness 1"}
	if p.Tasks.Heartbeats {
		one.Events.Heartbeat = s.at
	}
	s.Tasks = append(s.Tasks, one)
}

// mostOthers is how many of the others stand for all: the freezes of all events ask for three.
const mostOthers = 8

// crowd adds the other running tasks.
func (s *scene) crowd(c crowd) {
	for i := range min(c.running, mostOthers) {
		id := "other " + strconv.Itoa(i)
		t := reconcile.Task{ID: id, Status: "running", State: reconcile.TaskRunning, AsOf: s.at, Provider: s.provider,
			Sandbox: id, Events: reconcile.Events{Heartbeat: c.newest, Activity: c.active}}
		t.StartedAt = reconcile.Latest(c.newest, c.active).Add(-24 * time.Hour)
		s.Tasks = append(s.Tasks, t)
		s.box(id, id, reconcile.Answered)
	}
	if !c.recovered.IsZero() {
		for _, name := range []string{reconcile.SourceEvents, reconcile.SourceActivity} {
			s.Memory.Sources[name] = reconcile.SourceSeen{Name: name, Trusted: true, Since: c.recovered,
				RecoveredAt: c.recovered, LastTrusted: s.at}
		}
	}
}
