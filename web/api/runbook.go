package api

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Stats are the runbook's numbers.
type Stats struct {
	Active       int `json:"active"`
	Provisioning int `json:"provisioning"`
	Terminating  int `json:"terminating"`
	// Sandboxes on record, and those of them that are gone.
	TotalCreated   int `json:"total_created"`
	TotalDestroyed int `json:"total_destroyed"`
}

// A Listed is one sandbox as the runbook lists it.
type Listed struct {
	ID        string    `json:"id" jsonschema_extras:"x-untrusted=true"`
	Status    string    `json:"status"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	// Since it was created, or was seen first where its provider does not say; until it was gone.
	AgeMinutes float64 `json:"age_minutes"`
	// Its template.
	AgentType string `json:"agent_type,omitempty" jsonschema_extras:"x-untrusted=true"`
	TaskID    string `json:"task_id,omitempty" jsonschema_extras:"x-untrusted=true"`
}

// ListedOf is a sandbox as the runbook lists it, by the ledger's now.
func ListedOf(s *reconcile.SandboxSeen, now time.Time) Listed {
	end := now
	if !s.GoneAt.IsZero() {
		end = s.GoneAt
	}
	born, age := s.CreatedAt, 0.0
	if born.IsZero() {
		born = s.FirstSeen
	}
	if !born.IsZero() {
		age = max(float64(end.Sub(born)/time.Minute), 0) // a provider's clock may be ahead
	}
	return Listed{ID: s.ID, Status: statusOf(s), CreatedAt: utc(s.CreatedAt), AgeMinutes: age, AgentType: s.Template,
		TaskID: s.Task}
}

func statusOf(s *reconcile.SandboxSeen) string {
	switch {
	case !s.GoneAt.IsZero():
		return "destroyed"
	case s.State == reconcile.SandboxCreating:
		return "provisioning"
	case s.State == reconcile.SandboxRunning:
		return "active"
	case s.State == reconcile.SandboxDeleting:
		return "terminating"
	case s.State == reconcile.SandboxUnknown:
		return "unknown"
	}
	return string(s.State)
}

// Logs are the ends of a sandbox's logs that were saved before it was ended.
type Logs struct {
	ID   string       `json:"id" jsonschema_extras:"x-untrusted=true"`
	Logs []LogExcerpt `json:"logs"`
}

// A LogExcerpt is the end of one log.
type LogExcerpt struct {
	At     time.Time `json:"at,omitzero"`
	Action string    `json:"action"`
	Text   string    `json:"text" jsonschema_extras:"x-untrusted=true"`
}

// LogsOf are the logs that actions have saved, oldest first.
func LogsOf(id string, actions []reconcile.Action) Logs {
	out := Logs{ID: id, Logs: []LogExcerpt{}}
	for i := len(actions) - 1; i >= 0; i-- { // they come newest first
		a := &actions[i]
		texts := []string{a.Detail}
		for _, e := range a.Evidence {
			texts = append(texts, e.Fact)
		}
		for _, text := range texts {
			if _, log := reconcile.CutLog(text); log != "" {
				out.Logs = append(out.Logs, LogExcerpt{utc(a.ActedAt), a.ID, log})
			}
		}
	}
	return out
}

// Resources are what was measured of a sandbox together with its newest probes. What could not be measured is absent.
type Resources struct {
	ID         string   `json:"id" jsonschema_extras:"x-untrusted=true"`
	CPUPercent *float64 `json:"cpu_percent,omitempty"`
	MemoryMB   *float64 `json:"memory_mb,omitempty"`
	// How long the last probe took.
	DurationMS *float64 `json:"duration_ms,omitempty"`
	// Executions that it was asked for and has not finished.
	Operations *int      `json:"operations,omitempty"`
	MeasuredAt time.Time `json:"measured_at,omitzero"`
}

// ResourcesOf are the newest measurements among probes, which come newest first.
func ResourcesOf(id string, probes []reconcile.ProbeResult) Resources {
	out := Resources{ID: id}
	for i := range probes {
		p := &probes[i]
		if out.DurationMS == nil && p.Took > 0 {
			took := float64(p.Took.Milliseconds())
			out.DurationMS = &took
		}
		if p.Measurements != nil {
			out.measured(p.Measurements)
			break
		}
	}
	return out
}

func (r *Resources) measured(m *reconcile.Measurements) {
	const megabyte = 1 << 20
	r.CPUPercent, r.MeasuredAt = m.CPU, utc(m.At)
	if m.Memory != nil {
		used := float64(m.Memory.Used) / megabyte
		r.MemoryMB = &used
	}
	if m.Executions != nil {
		n := m.Executions.Queued + m.Executions.Running
		r.Operations = &n
	}
}
