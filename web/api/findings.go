package api

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Finding is one rule's verdict on one subject, with its evidence.
type Finding struct {
	Rule     string  `json:"rule"`
	Subject  Subject `json:"subject"`
	Provider string  `json:"provider,omitempty"`
	Sandbox  string  `json:"sandbox,omitempty" jsonschema_extras:"x-untrusted=true"`
	Task     string  `json:"task,omitempty" jsonschema_extras:"x-untrusted=true"`
	// What was seen, in one sentence.
	Reason   string     `json:"reason" jsonschema_extras:"x-untrusted=true"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Past every threshold.
	Due bool `json:"due"`
	// What keeps a due finding from being repaired; absent when it may be.
	HeldBy     []Held    `json:"held_by,omitempty"`
	Incident   string    `json:"incident,omitempty"`
	Sightings  int       `json:"sightings"`
	OpenedAt   time.Time `json:"opened_at,omitzero"`
	FirstSeen  time.Time `json:"first_seen,omitzero"`
	LastSeen   time.Time `json:"last_seen,omitzero"`
	ResolvedAt time.Time `json:"resolved_at,omitzero"`
}

// Evidence is one observed fact.
type Evidence struct {
	// Who said it: tasks, events, ledger, or a provider entry's name.
	Source string `json:"source"`
	// By the source's own clock.
	At   time.Time `json:"at,omitzero"`
	Fact string    `json:"fact" jsonschema_extras:"x-untrusted=true"`
}

// Held is one thing that holds.
type Held struct {
	Kind   string    `json:"kind"`
	What   string    `json:"what,omitempty"`
	Reason string    `json:"reason,omitempty" jsonschema_extras:"x-untrusted=true"`
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"`
}

// FindingOf is a finding as programs read it.
func FindingOf(f *reconcile.FindingSeen) Finding {
	return Finding{
		Rule: f.Rule, Subject: SubjectOf(f.Subject), Provider: f.Provider, Sandbox: f.Sandbox, Task: f.Task,
		Reason: f.Reason, Evidence: evidenceOf(f.Evidence), Due: f.Due, HeldBy: heldBy(f.HeldBy), Incident: f.Incident,
		Sightings: f.Sightings, OpenedAt: utc(f.OpenedAt), FirstSeen: utc(f.FirstSeen), LastSeen: utc(f.LastSeen),
		ResolvedAt: utc(f.ResolvedAt),
	}
}

func evidenceOf(all []reconcile.Evidence) []Evidence {
	out := make([]Evidence, 0, len(all))
	for _, e := range all {
		out = append(out, Evidence{Source: e.Source, At: utc(e.At), Fact: e.Fact})
	}
	return out
}

func heldBy(all reconcile.HeldBy) []Held {
	out := make([]Held, 0, len(all))
	for _, h := range all {
		out = append(out, Held{string(h.Kind), h.What, h.Reason, h.By, utc(h.Since), utc(h.Until)})
	}
	return out
}

// An Incident is many findings with one cause.
type Incident struct {
	ID       string `json:"id"`
	Rule     string `json:"rule"`
	Provider string `json:"provider,omitempty"`
	Template string `json:"template,omitempty" jsonschema_extras:"x-untrusted=true"`
	// Of its failures, normalised.
	Error string `json:"error,omitempty" jsonschema_extras:"x-untrusted=true"`
	// The probable one; absent when nothing stands out.
	Cause    string     `json:"cause,omitempty" jsonschema_extras:"x-untrusted=true"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Failures int        `json:"failures"`
	// USD that the sandboxes of its failures have cost so far.
	Cost float64 `json:"cost_usd,omitempty"`
	// It holds further terminations and requeues of its failures.
	Holds          bool      `json:"holds"`
	OpenedAt       time.Time `json:"opened_at,omitzero"`
	FirstSeen      time.Time `json:"first_seen,omitzero"`
	LastSeen       time.Time `json:"last_seen,omitzero"`
	ClosedAt       time.Time `json:"closed_at,omitzero"`
	ReleasedAt     time.Time `json:"released_at,omitzero"`
	ReleasedBy     string    `json:"released_by,omitempty"`
	ReleasedReason string    `json:"released_reason,omitempty"`
	// Who looks after it.
	AcknowledgedAt     time.Time `json:"acknowledged_at,omitzero"`
	AcknowledgedBy     string    `json:"acknowledged_by,omitempty"`
	AcknowledgedReason string    `json:"acknowledged_reason,omitempty"`
}

// IncidentOf is an incident as programs read it.
func IncidentOf(i *reconcile.Incident) Incident {
	return Incident{
		ID: i.ID, Rule: i.Rule, Provider: i.Provider, Template: i.Template, Error: i.Error, Cause: i.Cause,
		Evidence: evidenceOf(i.Evidence), Failures: i.Count, Cost: i.Cost, Holds: i.Holds(), OpenedAt: utc(i.OpenedAt),
		FirstSeen: utc(i.FirstSeen), LastSeen: utc(i.LastSeen), ClosedAt: utc(i.ClosedAt), ReleasedAt: utc(i.ReleasedAt),
		ReleasedBy: i.ReleasedBy.Author, ReleasedReason: i.ReleasedBy.Reason,
		AcknowledgedAt: utc(i.AckedAt), AcknowledgedBy: i.AckedBy.Author, AcknowledgedReason: i.AckedBy.Reason,
	}
}
