package api

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Task is what the ledger remembers of one. Times are the ledger's, but for updated_at and started_at, which are the
// row's own.
type Task struct {
	ID string `json:"id" jsonschema_extras:"x-untrusted=true"`
	// As the table has it.
	Status string `json:"status" jsonschema_extras:"x-untrusted=true"`
	// What the config takes that for; absent when it does not say.
	State string `json:"state,omitempty"`
	// The sandbox column.
	Sandbox   string    `json:"sandbox,omitempty" jsonschema_extras:"x-untrusted=true"`
	Tenant    string    `json:"tenant,omitempty" jsonschema_extras:"x-untrusted=true"`
	Live      bool      `json:"live"`
	Since     time.Time `json:"since,omitzero"`
	FirstSeen time.Time `json:"first_seen,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	StartedAt time.Time `json:"started_at,omitzero"`
}

// TaskOf is a task as programs read it.
func TaskOf(t *reconcile.TaskSeen) Task {
	return Task{ID: t.ID, Status: t.Status, State: string(t.State), Sandbox: t.Sandbox, Tenant: t.Tenant, Live: t.Live,
		Since: utc(t.Since), FirstSeen: utc(t.FirstSeen), UpdatedAt: utc(t.UpdatedAt), StartedAt: utc(t.StartedAt)}
}

// A Sandbox is what the ledger remembers of one. Times are the ledger's, but for created_at, which is the provider's.
type Sandbox struct {
	Provider string `json:"provider"`
	ID       string `json:"id" jsonschema_extras:"x-untrusted=true"`
	Name     string `json:"name,omitempty" jsonschema_extras:"x-untrusted=true"`
	Task     string `json:"task,omitempty" jsonschema_extras:"x-untrusted=true"`
	Template string `json:"template,omitempty" jsonschema_extras:"x-untrusted=true"`
	// Absent when the provider's word for it is not known.
	State string `json:"state,omitempty"`
	// The provider's own word.
	Raw        string    `json:"provider_state,omitempty" jsonschema_extras:"x-untrusted=true"`
	CreatedAt  time.Time `json:"created_at,omitzero"`
	FirstSeen  time.Time `json:"first_seen,omitzero"`
	StateSince time.Time `json:"state_since,omitzero"`
	GoneAt     time.Time `json:"gone_at,omitzero"`
	// It was confirmed gone after a termination of ours.
	GoneByUs bool `json:"gone_by_us,omitempty"`
	// Where the provider runs it and how large it is, as far as it says.
	Region    string  `json:"region,omitempty" jsonschema_extras:"x-untrusted=true"`
	CPU       float64 `json:"cpu,omitempty"`
	GPU       float64 `json:"gpu,omitempty"`
	MemoryGiB float64 `json:"memory_gib,omitempty"`
}

// SandboxOf is a sandbox as programs read it.
func SandboxOf(s *reconcile.SandboxSeen) Sandbox {
	return Sandbox{Provider: s.Provider, ID: s.ID, Name: s.Name, Task: s.Task, Template: s.Template,
		State: string(s.State),
		Raw:   s.Raw, CreatedAt: utc(s.CreatedAt), FirstSeen: utc(s.FirstSeen), StateSince: utc(s.StateSince),
		GoneAt: utc(s.GoneAt), GoneByUs: s.GoneByUs,
		Region: s.Region, CPU: s.Size.CPU, GPU: s.Size.GPU, MemoryGiB: s.Size.MemoryGiB}
}

// A History is all that the ledger knows of one task or sandbox, and of what it is linked to. Lists are newest first.
type History struct {
	Tasks     []Task    `json:"tasks"`
	Sandboxes []Sandbox `json:"sandboxes"`
	Findings  []Finding `json:"findings"`
	Actions   []Action  `json:"actions"`
	Timeline  []Event   `json:"timeline"`
}

// HistoryOf is a history as programs read it.
func HistoryOf(h *reconcile.History) History {
	return History{
		Tasks: ListOf(h.Tasks, TaskOf).Items, Sandboxes: ListOf(h.Sandboxes, SandboxOf).Items,
		Findings: ListOf(h.Findings, FindingOf).Items, Actions: ListOf(h.Actions, ActionOf).Items,
		Timeline: ListOf(h.Timeline, EventOf).Items,
	}
}

// A Pass is one look at both worlds.
type Pass struct {
	ID   int64  `json:"id"`
	Kind string `json:"kind"`
	// The process that made it.
	Holder  string    `json:"holder"`
	BeganAt time.Time `json:"began_at,omitzero"`
	// Absent while it is under way, or when it never ended.
	EndedAt  time.Time `json:"ended_at,omitzero"`
	Complete bool      `json:"complete"`
	Error    string    `json:"error,omitempty" jsonschema_extras:"x-untrusted=true"`
	// Suspects that were judged healthy.
	Healthy int            `json:"healthy"`
	Counts  map[string]int `json:"counts,omitempty"`
}

// PassOf is a pass as programs read it.
func PassOf(p *reconcile.PassSeen) Pass {
	return Pass{ID: p.ID, Kind: string(p.Kind), Holder: p.Holder, BeganAt: utc(p.BeganAt), EndedAt: utc(p.EndedAt),
		Complete: p.Complete, Error: p.Error, Healthy: p.Kept, Counts: reconcile.WithoutMeasures(p.Counts)}
}

// A Source is where facts come from, and whether they are believed.
type Source struct {
	Name    string `json:"name"`
	Trusted bool   `json:"trusted"`
	// Why it is not trusted.
	Reason string `json:"reason,omitempty" jsonschema_extras:"x-untrusted=true"`
	// Of the present trust or distrust.
	Since       time.Time `json:"since,omitzero"`
	LastTrusted time.Time `json:"last_trusted,omitzero"`
	RecoveredAt time.Time `json:"recovered_at,omitzero"`
}

// SourceOf is a source as programs read it.
func SourceOf(s *reconcile.SourceSeen) Source {
	return Source{Name: s.Name, Trusted: s.Trusted, Reason: s.Reason.String(), Since: utc(s.Since),
		LastTrusted: utc(s.LastTrusted), RecoveredAt: utc(s.RecoveredAt)}
}
