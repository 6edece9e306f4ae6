package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An explanation is everything known of one task or sandbox. Its JSON is a public contract.
type explanation struct {
	ID        string          `json:"id"`
	At        time.Time       `json:"at"`
	Subject   string          `json:"subject,omitempty"`
	Task      *taskReport     `json:"task,omitempty"`
	Sandboxes []sandboxReport `json:"sandboxes"`
	Findings  []verdictReport `json:"findings"`
	Steps     []stepReport    `json:"steps"`
	Kept      string          `json:"kept,omitempty"` // why it was judged healthy
	KeptBy    string          `json:"kept_by,omitempty"`
	Sources   []sourceReport  `json:"sources"`
	History   historyReport   `json:"history"`
}

type taskReport struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	State     string     `json:"state"`
	Sandbox   string     `json:"sandbox,omitempty"`
	Error     string     `json:"error,omitempty"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	Deadline  *time.Time `json:"deadline_at,omitempty"`
	LifeSign  *time.Time `json:"life_sign,omitempty"`
	AsOf      time.Time  `json:"as_of"`
	SeenSince *time.Time `json:"seen_in_status_since,omitempty"` // by the ledger
}

type sandboxReport struct {
	Provider     string     `json:"provider"`
	ID           string     `json:"sandbox"`
	Name         string     `json:"name,omitempty"`
	State        string     `json:"state"`
	Raw          string     `json:"provider_state"`
	Here         bool       `json:"seen_now"`
	Gone         bool       `json:"gone"`
	Owned        bool       `json:"owned"`
	Template     string     `json:"template,omitempty"`
	CreatedAt    *time.Time `json:"created_at,omitempty"`
	LastActivity *time.Time `json:"last_activity_at,omitempty"`
	FirstSeen    *time.Time `json:"first_seen,omitempty"` // by the ledger, like the next
	StateSince   *time.Time `json:"state_since,omitempty"`
	Probe        string     `json:"last_probe,omitempty"`
	ProbedAt     *time.Time `json:"last_probe_at,omitempty"`
	Failures     int        `json:"failed_probes"`
}

type verdictReport struct {
	Rule      string               `json:"rule"`
	Reason    string               `json:"reason"`
	Due       bool                 `json:"due"`
	Sightings int                  `json:"sightings"`
	FirstSeen time.Time            `json:"first_seen"`
	HeldBy    string               `json:"held_by,omitempty"`
	Evidence  []reconcile.Evidence `json:"evidence"`
}

type historyReport struct {
	Findings []pastFinding             `json:"findings"`
	Actions  []pastAction              `json:"actions"`
	Probes   []pastProbe               `json:"probes"`
	Timeline []reconcile.TimelineEvent `json:"timeline"`
}

type pastFinding struct {
	Rule       string     `json:"rule"`
	Reason     string     `json:"reason"`
	OpenedAt   time.Time  `json:"opened_at"`
	ResolvedAt *time.Time `json:"resolved_at,omitempty"`
}

type pastAction struct {
	ID          string            `json:"id"`
	Rule        string            `json:"rule"`
	Step        reconcile.Step    `json:"step"`
	Outcome     reconcile.Outcome `json:"outcome"`
	Detail      string            `json:"detail,omitempty"`
	PlannedAt   time.Time         `json:"planned_at"`
	RequestedAt *time.Time        `json:"requested_at,omitempty"`
	ClosedAt    *time.Time        `json:"closed_at,omitempty"`
}

type pastProbe struct {
	At      time.Time              `json:"at"`
	Outcome reconcile.ProbeOutcome `json:"outcome"`
	Detail  string                 `json:"detail,omitempty"`
}

// when is a time as JSON has it, nothing for none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (e *explanation) fill(r *reconcile.Result, d *reconcile.Decision) {
	e.Subject, e.Kept, e.KeptBy = d.Subject.ID, d.Kept, d.KeptBy
	if d.Subject.Task != nil {
		e.Task = taskOf(d.Subject.Task, d.Subject.Seen)
	}
	for _, b := range d.Subject.Boxes {
		e.Sandboxes = append(e.Sandboxes, sandboxOf(b))
	}
	for _, f := range r.Plan.Findings {
		if f.Subject == e.Subject {
			e.Findings = append(
				e.Findings,
				verdictReport{f.Rule, f.Reason, f.Due, f.Sightings, f.FirstSeen, holds(f.HeldBy), f.Evidence},
			)
		}
	}
	for _, s := range r.Plan.Steps {
		if s.Subject == e.Subject {
			e.Steps = append(e.Steps, stepOf(r, s, false))
		}
	}
	if e.Kept == "" && len(e.Findings) == 0 {
		e.Kept = "healthy: no rule suspects it"
	}
}

func taskOf(t *reconcile.Task, seen reconcile.TaskSeen) *taskReport {
	return &taskReport{ID: t.ID, Status: t.Status, State: string(t.State), Sandbox: t.Sandbox, Error: t.Error,
		CreatedAt: when(
			t.CreatedAt,
		), StartedAt: when(t.StartedAt), UpdatedAt: when(t.UpdatedAt), Deadline: when(t.DeadlineAt),
		LifeSign: when(t.LifeSign()), AsOf: t.AsOf, SeenSince: when(seen.Since)}
}

func sandboxOf(b reconcile.Box) sandboxReport {
	return sandboxReport{Provider: b.Provider, ID: b.ID, Name: b.Name, State: string(b.State), Raw: b.Raw,
		Here: b.Here, Gone: b.Gone, Owned: b.Owned, Template: b.Template,
		CreatedAt: when(b.CreatedAt), LastActivity: when(b.LastActivityAt),
		FirstSeen: when(b.Seen.FirstSeen), StateSince: when(b.Seen.StateSince),
		Probe: probeWords(b.Probes.Last), ProbedAt: when(b.Probes.Last.At), Failures: len(b.Probes.Failures)}
}

func probeWords(p reconcile.ProbeResult) string {
	if p.Detail == "" {
		return string(p.Outcome)
	}
	return string(p.Outcome) + ": " + p.Detail
}

func historyOf(h reconcile.History) historyReport {
	out := historyReport{
		Findings: []pastFinding{},
		Actions:  []pastAction{},
		Probes:   []pastProbe{},
		Timeline: h.Timeline,
	}
	for _, f := range h.Findings {
		out.Findings = append(out.Findings, pastFinding{f.Rule, f.Reason, f.OpenedAt, when(f.ResolvedAt)})
	}
	for _, a := range h.Actions {
		out.Actions = append(
			out.Actions,
			pastAction{a.ID, a.Rule, a.Step, a.Outcome, a.Detail, a.PlannedAt, when(a.ActedAt), when(a.ClosedAt)},
		)
	}
	for _, p := range h.Probes {
		out.Probes = append(out.Probes, pastProbe{p.At, p.Outcome, p.Detail})
	}
	if out.Timeline == nil {
		out.Timeline = []reconcile.TimelineEvent{}
	}
	return out
}

// text writes the explanation for people.
func (e *explanation) text(w io.Writer) error {
	var b bytes.Buffer
	p := newPaint(w)
	fmt.Fprintf(&b, "%s as of %s\n", firstText(e.Subject, e.ID), stampText(&e.At))
	e.viewsText(&b)
	for _, s := range e.Sources {
		if !s.Trusted {
			fmt.Fprintf(&b, "%s %s: %s\n", p.red("not trusted"), s.Name, s.Reason)
		}
	}
	e.verdictText(&b, p)
	e.historyText(&b)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	return nil
}

func (e *explanation) viewsText(b *bytes.Buffer) {
	if t := e.Task; t != nil {
		fmt.Fprintf(
			b,
			"\ntask table\n  %s is %s (%s), sandbox %q, started %s, updated %s, last life sign %s\n",
			t.ID,
			t.Status,
			firstText(t.State, "not mapped"),
			t.Sandbox,
			stampText(t.StartedAt),
			stampText(t.UpdatedAt),
			stampText(t.LifeSign),
		)
		if t.Error != "" {
			fmt.Fprintf(b, "  error: %s\n", t.Error)
		}
	}
	for _, s := range e.Sandboxes {
		fmt.Fprintf(b, "\nprovider %s\n  %s is %s, created %s, last activity %s\n",
			s.Provider, s.ID, sandboxWords(s), stampText(s.CreatedAt), stampText(s.LastActivity))
		fmt.Fprintf(
			b,
			"  ledger: first seen %s, in this state since %s\n",
			stampText(s.FirstSeen),
			stampText(s.StateSince),
		)
		if s.Probe != "" {
			fmt.Fprintf(b, "  last probe %s: %s (%d failed in a row)\n", stampText(s.ProbedAt), s.Probe, s.Failures)
		}
	}
}

func sandboxWords(s sandboxReport) string {
	switch {
	case s.Gone:
		return "gone"
	case !s.Here:
		return "not listed"
	}
	return firstText(s.Raw, "in an unknown state")
}

func (e *explanation) verdictText(b *bytes.Buffer, p paint) {
	fmt.Fprintln(b, "\nverdict")
	for _, f := range e.Findings {
		fmt.Fprintf(b, "  %s: %s\n", p.yellow(f.Rule), f.Reason)
		for _, ev := range f.Evidence {
			fmt.Fprintf(b, "    %s %s: %s\n", stampText(&ev.At), ev.Source, ev.Fact)
		}
		if f.HeldBy != "" {
			fmt.Fprintf(b, "    held by %s\n", f.HeldBy)
		}
	}
	for _, s := range e.Steps {
		fmt.Fprintf(b, "  %s %s %s\n", p.outcome(s), s.Step, target(s))
	}
	if e.Kept != "" {
		fmt.Fprintf(b, "  kept: %s\n", e.Kept)
	}
}

func (e *explanation) historyText(b *bytes.Buffer) {
	if len(e.History.Actions) > 0 {
		fmt.Fprintln(b, "\nactions")
	}
	for _, a := range e.History.Actions {
		fmt.Fprintf(b, "  %s %s by %s: %s %s\n", stampText(&a.PlannedAt), a.Step, a.Rule, a.Outcome, a.Detail)
	}
	if len(e.History.Timeline) > 0 {
		fmt.Fprintln(b, "\ntimeline")
	}
	for _, ev := range e.History.Timeline {
		fmt.Fprintf(b, "  %s %s: %s\n", stampText(&ev.At), ev.Kind, ev.What)
	}
}

func stampText(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
