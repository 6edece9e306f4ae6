package result

import (
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// An Incident is one incident in JSON, a public contract of explain and affected.
type Incident struct {
	ID        string     `json:"id"`
	Rule      string     `json:"rule"`
	Provider  string     `json:"provider,omitempty"`
	Template  string     `json:"template,omitempty"`
	Error     string     `json:"error,omitempty"`
	Cause     string     `json:"cause,omitempty"`
	Count     int        `json:"count"`
	Cost      *dollars   `json:"cost_usd,omitempty"` // absent where nothing was counted: no provider of it has a price
	FirstSeen time.Time  `json:"first_seen"`
	LastSeen  time.Time  `json:"last_seen"`
	ClosedAt  *time.Time `json:"closed_at,omitempty"`
	Released  *time.Time `json:"released_at,omitempty"`
	By        string     `json:"released_by,omitempty"`
	Acked     *time.Time `json:"acknowledged_at,omitempty"`
	AckedBy   string     `json:"acknowledged_by,omitempty"`
	State     string     `json:"state"` // holds, released or closed
}

// IncidentOf is an incident as JSON has it; its cause is said as it is given.
func IncidentOf(i *reconcile.Incident) Incident {
	return Incident{ID: i.ID, Rule: i.Rule, Provider: i.Provider, Template: i.Template, Error: i.Error,
		Cause: i.Cause, Count: i.Count, Cost: counted(i.Cost), FirstSeen: i.FirstSeen.UTC(), LastSeen: i.LastSeen.UTC(),
		ClosedAt: console.When(i.ClosedAt), Released: console.When(i.ReleasedAt), By: i.ReleasedBy.Author,
		Acked: console.When(i.AckedAt), AckedBy: i.AckedBy.Author, State: IncidentState(i)}
}

// counted is an amount that was counted; nil for none.
func counted(amount float64) *dollars {
	if amount == 0 {
		return nil
	}
	known := dollars(amount)
	return &known
}

// IncidentState is one word for what an incident does now.
func IncidentState(i *reconcile.Incident) string {
	switch {
	case i.Holds():
		return "holds"
	case !i.ClosedAt.IsZero():
		return "closed"
	}
	return "released"
}

// IncidentsOf are incidents as JSON has them.
func IncidentsOf(all []reconcile.Incident) []Incident {
	out := []Incident{}
	for i := range all {
		out = append(out, IncidentOf(&all[i]))
	}
	return out
}

// A FalsePositive is life that a task showed after a verdict that called it dead.
type FalsePositive struct {
	Rule    string     `json:"rule"`
	Task    string     `json:"task,omitempty"`
	Subject string     `json:"subject"`
	At      *time.Time `json:"at,omitempty"` // when life was seen
	Verdict time.Time  `json:"verdict_at"`
	Reason  string     `json:"reason"` // of the verdict
	What    string     `json:"what"`   // what was seen
}

// falsePositivesOf are those of the verdicts that were regretted.
func falsePositivesOf(all []reconcile.Verdict) []FalsePositive {
	out := []FalsePositive{}
	for _, v := range all {
		if v.FalsePositiveAt.IsZero() {
			continue
		}
		out = append(out, FalsePositive{Rule: v.Rule, Task: v.Task, Subject: v.Subject, At: console.When(v.FalsePositiveAt),
			Verdict: v.At.UTC(), Reason: v.Reason, What: v.FalsePositive})
	}
	return out
}

// tell adds what happened to the subject, and what it is part of.
func (e *Explanation) tell(x *run.Explained, h reconcile.History) {
	e.Moments, e.Logs = momentsOf(x, h), logsOf(h.Actions)
	e.Incidents, e.FalsePositives = IncidentsOf(x.Incidents), falsePositivesOf(x.Verdicts)
	e.Answers = answersOf(x)
}

// answersOf is what each rule says, none of what no pass judges.
func answersOf(x *run.Explained) []answer {
	out := []answer{}
	if x.Judged == nil {
		return out
	}
	for _, a := range x.Judged.Results(x.Decision) {
		out = append(out, answer{a.Rule, a.Mode, a.Says, a.Why})
	}
	return out
}
