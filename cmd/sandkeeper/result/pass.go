package result

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// A Pass is the result of plan and once. Its JSON is a public contract.
type Pass struct {
	Pass     passHead  `json:"pass"`
	Steps    []Step    `json:"steps"`
	Findings []Finding `json:"findings"`
	Kept     int       `json:"kept"` // the same as healthy, by its older name
	Healthy  int       `json:"healthy"`
	Unlooked int       `json:"not_looked_at"` // suspects whose turn it was not, or whose look failed: neither of both
	Sources  []Source  `json:"sources"`
	Learned  []Learned `json:"learned,omitempty"` // thresholds of rules whose config says `after: auto`
	Proofs   []Proof   `json:"proofs,omitempty"`  // of the rules in enforce whose remedy changes or ends something

	blind map[string]decide.Blind // what of not_looked_at failed, by provider
}

// A Learned is a threshold that was learned, of all that a rule judges or of a class; durations in seconds.
type Learned struct {
	Rule  string    `json:"rule"`
	Class string    `json:"class"`
	After float64   `json:"after"`
	At    time.Time `json:"at"` // when it was computed last
	Why   string    `json:"why"`
}

// learnedOf are the thresholds that were learned and that the policy has.
func learnedOf(p *reconcile.Policy) (out []Learned) {
	for i := range p.Learned {
		l := &p.Learned[i]
		out = append(out, Learned{l.Rule, l.Class, l.After.Seconds(), l.At.UTC(), l.Line})
	}
	return out
}

type passHead struct {
	Kind reconcile.PassKind `json:"kind"`
	At   time.Time          `json:"at"`
}

// A Step is what is done, was done or is held.
type Step struct {
	Rule     string               `json:"rule"`
	Mode     reconcile.Mode       `json:"mode,omitempty"`
	Subject  Subject              `json:"subject,omitzero"`
	Provider string               `json:"provider,omitempty"`
	Sandbox  string               `json:"sandbox,omitempty"`
	Task     string               `json:"task,omitempty"`
	Step     reconcile.Step       `json:"step"`
	Verdict  string               `json:"verdict"` // do or held
	HeldBy   reconcile.HeldBy     `json:"held_by,omitempty"`
	Outcome  reconcile.Outcome    `json:"outcome,omitempty"` // of once only
	Detail   string               `json:"detail,omitempty"`
	Reason   string               `json:"reason"`
	Evidence []reconcile.Evidence `json:"evidence"`
	Incident string               `json:"incident,omitempty"` // that its finding belongs to
	Template string               `json:"template,omitempty"` // of a step on a template
}

// A Finding is what the pass found.
type Finding struct {
	Rule     string           `json:"rule"`
	Subject  Subject          `json:"subject,omitzero"`
	Provider string           `json:"provider,omitempty"`
	Sandbox  string           `json:"sandbox,omitempty"`
	Task     string           `json:"task,omitempty"`
	Reason   string           `json:"reason"`
	HeldBy   reconcile.HeldBy `json:"held_by,omitempty"`
	Incident string           `json:"incident,omitempty"` // that it belongs to, or that it is
}

// A Subject is what a step or a finding is about.
type Subject struct {
	Type     reconcile.SubjectType `json:"type"` // task, sandbox, template or source; incident for the finding that is one
	ID       string                `json:"id"`
	Provider string                `json:"provider,omitempty"`
}

// SubjectOf takes a subject like "sandbox:daytona/sb-1" apart.
func SubjectOf(subject, provider string) Subject {
	s := reconcile.ParseSubject(subject)
	if s.Type != reconcile.SubjectSandbox && s.Type != reconcile.SubjectTemplate {
		return Subject{Type: s.Type, ID: s.Within()}
	}
	return Subject{Type: s.Type, ID: s.ID, Provider: provider}
}

// A Source is one of those that the pass read.
type Source struct {
	Name    string `json:"name"`
	Trusted bool   `json:"trusted"`
	Reason  string `json:"reason,omitempty"`
}

// PassOf makes the report of a pass. acted tells whether the steps were carried out.
func PassOf(r *run.Result, acted bool) Pass {
	out := Pass{Pass: passHead{r.Kind, r.At}, Kept: r.Plan.Kept, Healthy: r.Plan.Kept,
		Unlooked: r.Plan.Unlooked + r.Plan.Blinds(), blind: r.Plan.Blind,
		Steps: []Step{}, Findings: []Finding{}, Sources: SourcesOf(r.Sources)}
	planned, incidents := map[string]bool{}, incidentsIn(r.Plan)
	for _, s := range r.Plan.Steps {
		planned[s.ID] = true
		step := stepOf(r, s, acted)
		step.Incident = incidents[reconcile.FindingKey{Rule: s.Rule, Subject: s.Subject}]
		out.Steps = append(out.Steps, step)
	}
	for _, s := range r.Open {
		out.Steps = append(out.Steps, stepOf(r, s, acted))
	}
	for _, id := range earlier(r, planned) {
		a := r.Done[id]
		out.Steps = append(out.Steps, stepOf(r, decide.PlannedStep{Action: a, Mode: reconcile.Enforce}, acted))
	}
	for _, f := range r.Plan.Findings {
		out.Findings = append(
			out.Findings,
			Finding{f.Rule, SubjectOf(f.Subject, f.Provider), f.Provider, f.Sandbox, f.Task, f.Reason,
				slices.Clone(f.HeldBy), incidents[f.Key()]},
		)
	}
	if r.Judged != nil {
		out.Learned, out.Proofs = learnedOf(r.Judged.View.P), proofsOf(r.Judged.View)
		out.date(&r.Judged.View.S.Memory.Controls)
	}
	return out
}

// date says of all of them since when and until when the pauses and holds are, which their texts do not say.
func (r *Pass) date(c *reconcile.Controls) {
	for _, s := range r.Steps {
		Date(s.HeldBy, c)
	}
	for _, f := range r.Findings {
		Date(f.HeldBy, c)
	}
}

// Date says since when and until when the pauses and holds are that hold something.
func Date(held reconcile.HeldBy, c *reconcile.Controls) {
	for i := range held {
		h := &held[i]
		for _, p := range c.Pauses {
			if h.Kind == reconcile.HeldPause && h.What == p.Scope && h.By == p.Author {
				h.Since, h.Until = p.At.UTC(), p.Until.UTC()
			}
		}
		for _, o := range c.Holds {
			if h.Kind == reconcile.HeldHold && h.What == o.Target && h.By == o.Author {
				h.Since, h.Until = o.At.UTC(), o.Until.UTC()
			}
		}
	}
}

// SourcesOf are the sources as JSON has them.
func SourcesOf(sources []reconcile.SourceSeen) []Source {
	out := []Source{}
	for _, s := range sources {
		out = append(out, Source{s.Name, s.Trusted, s.Reason.String()})
	}
	return out
}

// incidentsIn are the incidents that findings of the plan belong to, or are.
func incidentsIn(p *decide.Plan) map[reconcile.FindingKey]string {
	out := map[reconcile.FindingKey]string{}
	for i := range p.Findings {
		f := &p.Findings[i]
		id, is := reconcile.OfType(reconcile.SubjectIncident, f.Subject)
		if !is {
			id = f.Incident
		}
		if id != "" {
			out[f.Key()] = id
		}
	}
	return out
}

// earlier are the actions of earlier passes that this one went on with.
func earlier(r *run.Result, planned map[string]bool) []string {
	var ids []string
	for id := range r.Done {
		if !planned[id] {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		x, y := r.Done[a], r.Done[b]
		return cmp.Or(cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Seq, y.Seq), cmp.Compare(a, b))
	})
	return ids
}

func stepOf(r *run.Result, s decide.PlannedStep, acted bool) Step {
	out := Step{
		Rule:     s.Rule,
		Mode:     s.Mode,
		Subject:  SubjectOf(s.Subject, s.Provider),
		Provider: s.Provider,
		Sandbox:  s.Sandbox,
		Task:     s.Task,
		Step:     s.Step,
		Verdict:  "do",
		HeldBy:   slices.Clone(s.HeldBy),
		Reason:   s.Reason,
		Evidence: s.Evidence,
		Template: reconcile.TemplateOf(s.Subject, s.Provider),
	}
	if out.Evidence == nil {
		out.Evidence = []reconcile.Evidence{}
	}
	if len(s.HeldBy) > 0 {
		out.Verdict = "held"
	}
	if acted {
		out.Outcome = reconcile.OutcomePending
		if a, worked := r.Done[s.ID]; worked {
			out.Outcome, out.Detail = a.Outcome, a.Detail
			if r.Refused[s.ID] {
				out.Outcome = reconcile.OutcomeFailed
			}
		}
		why := r.Waits[s.ID]
		switch a := r.Done[s.ID]; {
		case len(why) == 0 || out.Outcome != reconcile.OutcomePending:
		case a.Attempts == 0: // nobody has begun it: it was held at the last moment
			out.Verdict, out.HeldBy = "held", why
		default:
			out.Detail = why.String()
		}
	}
	return out
}

// PrintPass writes a report as JSON or as text for people.
func PrintPass(w io.Writer, form string, r Pass) error {
	if form == "json" {
		return console.PrintJSON(w, r)
	}
	return printText(w, r)
}
