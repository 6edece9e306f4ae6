package result

import (
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// An Explanation is everything known of one task or sandbox. Its JSON is a public contract.
type Explanation struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Subject   string    `json:"subject,omitempty"`
	Task      *task     `json:"task,omitempty"`
	Sandboxes []sandbox `json:"sandboxes"`
	Findings  []verdict `json:"findings"`
	Steps     []Step    `json:"steps"`
	Kept      string    `json:"kept,omitempty"` // why it was judged healthy
	KeptBy    string    `json:"kept_by,omitempty"`
	Sources   []Source  `json:"sources"`
	History   history   `json:"history"`

	Listed         *time.Time      `json:"listed_at,omitempty"` // when the providers were listed
	Whole          bool            `json:"listed_for_it"`       // by this look; else by the last full pass
	LastPass       *LastPass       `json:"last_pass,omitempty"`
	Answers        []answer        `json:"answers"`
	Moments        []Moment        `json:"moments"`
	Logs           []logExcerpt    `json:"logs"`
	Incidents      []Incident      `json:"incidents"`
	FalsePositives []FalsePositive `json:"false_positives"`

	judged bool // by this look
	blind  bool // it could not be looked at, so kept is no reason for which it is healthy
}

// A LastPass is what the newest pass that ended left of one subject.
type LastPass struct {
	Number   int64              `json:"number"`
	Kind     reconcile.PassKind `json:"kind"`
	BeganAt  time.Time          `json:"began_at"`
	EndedAt  time.Time          `json:"ended_at"`
	Complete bool               `json:"complete"`
	Error    string             `json:"error,omitempty"`
	Findings []verdict          `json:"findings"` // that are open since
}

// An answer is what one rule says of the subject.
type answer struct {
	Rule string         `json:"rule"`
	Mode reconcile.Mode `json:"mode"`
	Says string         `json:"says"` // due, found, kept, healthy or off
	Why  string         `json:"why"`
}

// A logExcerpt is the end of a sandbox's log, saved before it was ended.
type logExcerpt struct {
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	Text   string    `json:"text"`
}

type task struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	State     string     `json:"state"`
	Sandbox   string     `json:"sandbox,omitempty"`
	Error     string     `json:"error,omitempty"`
	CreatedAt *time.Time `json:"created_at,omitempty"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	Deadline  *time.Time `json:"deadline_at,omitempty"`
	LastSeen  *time.Time `json:"last_seen,omitempty"`
	AsOf      time.Time  `json:"as_of"`
	SeenSince *time.Time `json:"seen_in_status_since,omitempty"` // by the ledger
}

type sandbox struct {
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

type verdict struct {
	Rule      string               `json:"rule"`
	Reason    string               `json:"reason"`
	Due       bool                 `json:"due"`
	Sightings int                  `json:"sightings"`
	FirstSeen time.Time            `json:"first_seen"`
	HeldBy    reconcile.HeldBy     `json:"held_by,omitempty"`
	Evidence  []reconcile.Evidence `json:"evidence"`
}

type history struct {
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

// ExplanationOf puts together what the two worlds and the ledger say of one thing.
func ExplanationOf(id string, x *run.Explained, h reconcile.History) *Explanation {
	e := &Explanation{ID: id, At: x.At, Listed: console.When(x.Listed), Whole: x.Whole, History: historyOf(h),
		Sandboxes: []sandbox{}, Findings: []verdict{}, Steps: []Step{}}
	if x.Decision != nil {
		e.fill(x)
	} else {
		e.past(x, h)
	}
	e.tell(x, h)
	return e
}

// fill says what this look came to.
func (e *Explanation) fill(x *run.Explained) {
	d := x.Decision
	e.judged, e.blind = true, d.Blind
	e.Subject, e.Kept, e.KeptBy, e.Sources = d.Subject.ID, d.Kept, d.KeptBy, SourcesOf(x.Sources)
	if d.Subject.Task != nil {
		e.Task = taskOf(d.Subject.Task, d.Subject.Seen())
	}
	for _, b := range d.Subject.Boxes {
		e.Sandboxes = append(e.Sandboxes, sandboxOf(b))
	}
	for _, f := range x.Plan.Findings {
		e.Findings = append(e.Findings, openVerdict(f))
	}
	for _, s := range x.Plan.Steps {
		e.Steps = append(e.Steps, stepOf(nil, s, false))
	}
	if e.Kept == "" && len(e.Findings) == 0 {
		e.Kept = "healthy: no rule suspects it"
	}
}

func openVerdict(f reconcile.Finding) verdict {
	return verdict{f.Rule, f.Reason, f.Due, f.Sightings, f.FirstSeen, f.HeldBy, f.Evidence}
}

// LastPassOf is what a pass that ended left of the subject with this history.
func LastPassOf(p reconcile.PassSeen, h reconcile.History) *LastPass {
	out := &LastPass{Number: p.ID, Kind: p.Kind, BeganAt: p.BeganAt, EndedAt: p.EndedAt, Complete: p.Complete,
		Error: p.Error, Findings: []verdict{}}
	for _, f := range h.Findings {
		if f.ResolvedAt.IsZero() {
			out.Findings = append(out.Findings, openVerdict(f.Finding))
		}
	}
	return out
}

func taskOf(t *reconcile.Task, seen reconcile.TaskSeen) *task {
	return &task{ID: t.ID, Status: t.Status, State: string(t.State), Sandbox: t.Sandbox, Error: t.Error,
		CreatedAt: console.When(t.CreatedAt), StartedAt: console.When(t.StartedAt), UpdatedAt: console.When(t.UpdatedAt),
		Deadline: console.When(t.DeadlineAt), LastSeen: console.When(t.LastSeen()), AsOf: t.AsOf,
		SeenSince: console.When(seen.Since)}
}

func sandboxOf(b reconcile.SeenSandbox) sandbox {
	return sandbox{Provider: b.Provider, ID: b.ID, Name: b.Name, State: string(b.State), Raw: b.Raw,
		Here: b.Here, Gone: b.Gone, Owned: b.Owned, Template: b.Template,
		CreatedAt: console.When(b.CreatedAt), LastActivity: console.When(b.LastActivityAt),
		FirstSeen: console.When(b.Seen().FirstSeen), StateSince: console.When(b.Seen().StateSince),
		Probe: probeWords(b.Probes.Last), ProbedAt: console.When(b.Probes.Last.At), Failures: len(b.Probes.Failures)}
}

func probeWords(p reconcile.ProbeResult) string {
	if p.Detail == "" {
		return string(p.Outcome)
	}
	return string(p.Outcome) + ": " + p.Detail
}

func historyOf(h reconcile.History) history {
	out := history{
		Findings: []pastFinding{},
		Actions:  []pastAction{},
		Probes:   []pastProbe{},
		Timeline: h.Timeline,
	}
	for _, f := range h.Findings {
		out.Findings = append(out.Findings, pastFinding{f.Rule, f.Reason, f.OpenedAt, console.When(f.ResolvedAt)})
	}
	for _, a := range h.Actions {
		out.Actions = append(out.Actions, pastAction{a.ID, a.Rule, a.Step, a.Outcome, a.Detail, a.PlannedAt,
			console.When(a.ActedAt), console.When(a.ClosedAt)})
	}
	for _, p := range h.Probes {
		out.Probes = append(out.Probes, pastProbe{p.At, p.Outcome, p.Detail})
	}
	if out.Timeline == nil {
		out.Timeline = []reconcile.TimelineEvent{}
	}
	return out
}
