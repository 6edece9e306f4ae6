package api

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An Action is one recorded step of a remedy.
type Action struct {
	ID string `json:"id"`
	// The id of the remedy's first action.
	Remedy  string  `json:"remedy"`
	Rule    string  `json:"rule"`
	Subject Subject `json:"subject"`
	// The pass that planned it.
	Pass     int64  `json:"pass,omitempty"`
	Provider string `json:"provider,omitempty"`
	Sandbox  string `json:"sandbox,omitempty" jsonschema_extras:"x-untrusted=true"`
	Task     string `json:"task,omitempty" jsonschema_extras:"x-untrusted=true"`
	Step     string `json:"step"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason,omitempty" jsonschema_extras:"x-untrusted=true"`
	Detail   string `json:"detail,omitempty" jsonschema_extras:"x-untrusted=true"`
	// In which way it came to its outcome, where something depends on that: refused, adopted, unsure, unheard,
	// anew, vanished, taken-back.
	How string `json:"how,omitempty"`
	// What holds one that was looked at and left open.
	HeldBy   []Held     `json:"held_by,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// The operator who asked for it; absent for one that a pass planned.
	Author         string    `json:"author,omitempty"`
	IncludeRunning bool      `json:"include_running,omitempty"`
	Anyway         bool      `json:"anyway,omitempty"`
	Attempts       int       `json:"attempts"`
	PlannedAt      time.Time `json:"planned_at,omitzero"`
	ClaimedBy      string    `json:"claimed_by,omitempty"`
	// Not to be claimed before.
	NextAttempt time.Time `json:"next_attempt,omitzero"`
	// When the outside call was made first.
	RequestedAt time.Time `json:"requested_at,omitzero"`
	ClosedAt    time.Time `json:"closed_at,omitzero"`
}

// ActionOf is an action as programs read it.
func ActionOf(a *reconcile.Action) Action {
	return Action{
		ID: a.ID, Remedy: a.Remedy, Rule: a.Rule, Subject: SubjectOf(a.Subject), Pass: a.Pass, Provider: a.Provider,
		Sandbox: a.Sandbox, Task: a.Task, Step: string(a.Step), Outcome: string(a.Outcome), Reason: a.Reason,
		Detail: a.Detail, How: string(a.How), HeldBy: heldBy(a.WaitsFor),
		Evidence: evidenceOf(a.Evidence), Author: a.Author, IncludeRunning: a.Running, Anyway: a.Anyway,
		Attempts: a.Attempts, PlannedAt: utc(a.PlannedAt), ClaimedBy: a.ClaimedBy, NextAttempt: utc(a.NextAttempt),
		RequestedAt: utc(a.FirstActed), ClosedAt: utc(a.ClosedAt),
	}
}

// A Request is what an operator asked for, as the record has it.
type Request struct {
	At      time.Time `json:"at"`
	Subject Subject   `json:"subject"`
	// What was asked for, by whom and why.
	What string `json:"what" jsonschema_extras:"x-untrusted=true"`
}

// RequestOf is a line of the record as programs read it.
func RequestOf(e *reconcile.TimelineEvent) Request {
	return Request{At: utc(e.At), Subject: SubjectOf(e.Subject), What: e.What}
}

// An Event is one line of a subject's history.
type Event struct {
	At      time.Time `json:"at"`
	Subject Subject   `json:"subject"`
	Kind    string    `json:"kind"`
	What    string    `json:"what" jsonschema_extras:"x-untrusted=true"`
}

// EventOf is a line of a history as programs read it.
func EventOf(e *reconcile.TimelineEvent) Event {
	return Event{At: utc(e.At), Subject: SubjectOf(e.Subject), Kind: e.Kind, What: e.What}
}
