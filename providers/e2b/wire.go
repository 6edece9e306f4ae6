package e2b

import (
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A box is a sandbox on the wire: of the vendor's fields those that are used. The last three
// are not in listings. Everything may be missing.
type box struct {
	ID        string            `json:"sandboxID"`
	Template  string            `json:"templateID"`
	Alias     string            `json:"alias"`
	State     string            `json:"state"`
	Envd      string            `json:"envdVersion"`
	Metadata  map[string]string `json:"metadata"`
	StartedAt wire.Stamp        `json:"startedAt"`
	EndAt     wire.Stamp        `json:"endAt"`
	Token     string            `json:"envdAccessToken"`
	Domain    string            `json:"domain"`
	Lifecycle *lifecycle        `json:"lifecycle"` // nil where the server is older than it
}

type lifecycle struct {
	AutoResume bool `json:"autoResume"`
	Keepalive  struct {
		Traffic struct {
			Enabled bool `json:"enabled"`
		} `json:"traffic"`
	} `json:"keepalive"` // some servers have it: calls put the end off
}

// states are the vendor's words for the canonical states. What is being paused says paused,
// what is being killed is not found.
var states = map[string]reconcile.SandboxState{
	"running": reconcile.SandboxRunning,
	"paused":  reconcile.SandboxSuspended,
}

// sandbox is the box in the words of the contract. The start is the one of the last resume:
// such a sandbox seems younger than it is, never older. The end of a paused one is when it
// was paused, and it has no other.
func (p *Provider) sandbox(b *box, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: b.ID}, Raw: b.State, State: states[b.State], Template: b.Alias, Labels: b.Metadata,
		CreatedAt: b.StartedAt.Time, UpdatedAt: b.StartedAt.Time, AsOf: asOf,
	}
	switch s.State {
	case reconcile.SandboxRunning:
		s.ExpiresAt = b.EndAt.Time
	case reconcile.SandboxSuspended:
		s.UpdatedAt = b.EndAt.Time
	}
	if s.Template == "" {
		s.Template = b.Template
	}
	p.entry.Mark(&s)
	return s
}

// keptAlive reports whether a call into the sandbox puts its end off.
func (b *box) keptAlive() bool { return b.Lifecycle != nil && b.Lifecycle.Keepalive.Traffic.Enabled }

// mayWake reports whether a call into the sandbox, at its end, could resume it right after it
// was paused. Where the server does not say, it could.
func (b *box) mayWake(now time.Time, within time.Duration) bool {
	return (b.Lifecycle == nil || b.Lifecycle.AutoResume) && !b.EndAt.IsZero() && b.EndAt.Sub(now) < within
}
