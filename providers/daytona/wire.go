package daytona

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A box is a sandbox on the wire: of the vendor's fields those that are used. List and get
// show the same ones. Everything may be missing.
type box struct {
	ID             string            `json:"id"`
	Organization   string            `json:"organizationId"`
	Name           string            `json:"name"`
	State          string            `json:"state"`
	DesiredState   string            `json:"desiredState"`
	Snapshot       string            `json:"snapshot"`
	Target         string            `json:"target"`
	ErrorReason    string            `json:"errorReason"`
	Toolbox        string            `json:"toolboxProxyUrl"`
	CPU            wire.Amount       `json:"cpu"`
	GPU            wire.Amount       `json:"gpu"`
	Memory         wire.Amount       `json:"memory"` // GiB
	Labels         map[string]string `json:"labels"`
	CreatedAt      wire.Stamp        `json:"createdAt"`
	UpdatedAt      wire.Stamp        `json:"updatedAt"`
	LastActivityAt wire.Stamp        `json:"lastActivityAt"`
	AutoDestroyAt  wire.Stamp        `json:"autoDestroyAt"`
	AutoDelete     *float64          `json:"autoDeleteInterval"` // minutes after a stop; 0: a stop deletes it
}

// A page is one page of a listing. Both fields are checked: an answer without them is no
// page, however well it decodes.
type page struct {
	Items []box           `json:"items"`
	Next  json.RawMessage `json:"nextCursor"`
}

type snapshot struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	State       string     `json:"state"`
	General     bool       `json:"general"`
	ErrorReason string     `json:"errorReason"`
	CreatedAt   wire.Stamp `json:"createdAt"`
	LastUsedAt  wire.Stamp `json:"lastUsedAt"`
}

const destroyed = "destroyed"

// states are the vendor's words for the canonical states.
var states = map[string]reconcile.SandboxState{
	"creating":          reconcile.SandboxCreating,
	"starting":          reconcile.SandboxCreating,
	"restoring":         reconcile.SandboxCreating,
	"resuming":          reconcile.SandboxCreating,
	"pulling_snapshot":  reconcile.SandboxCreating,
	"building_snapshot": reconcile.SandboxCreating,
	"pending_build":     reconcile.SandboxCreating,
	"forking":           reconcile.SandboxCreating,
	"started":           reconcile.SandboxRunning,
	"resizing":          reconcile.SandboxRunning,
	"snapshotting":      reconcile.SandboxRunning,
	"paused":            reconcile.SandboxSuspended,
	"pausing":           reconcile.SandboxSuspended,
	"archived":          reconcile.SandboxSuspended,
	"archiving":         reconcile.SandboxSuspended,
	"stopped":           reconcile.SandboxStopped,
	"stopping":          reconcile.SandboxSuspended, // a transition: it is stopped when it is stopped
	"error":             reconcile.SandboxFailed,
	"build_failed":      reconcile.SandboxFailed,
	"destroying":        reconcile.SandboxDeleting,
	destroyed:           reconcile.SandboxEnded,
}

// state is the canonical state. A listing shows the raw state also of what is being
// deleted, so the desired state goes first.
func (b *box) state() reconcile.SandboxState {
	switch {
	case b.State == destroyed:
		return reconcile.SandboxEnded
	case b.DesiredState == destroyed:
		return reconcile.SandboxDeleting
	case b.State == "unknown" && b.DesiredState == "started":
		return reconcile.SandboxCreating // the vendor's word for: not made yet
	}
	return states[b.State]
}

// sandbox is the box in the words of the contract. Its texts are copies: it keeps nothing
// of the answer alive.
func (p *Provider) sandbox(b *box, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref:            reconcile.Ref{ID: b.ID},
		Name:           b.Name,
		Raw:            b.State,
		State:          b.state(),
		Template:       b.Snapshot,
		Region:         b.Target,
		Size:           wire.Size(b.CPU, b.GPU, b.Memory),
		Labels:         b.Labels,
		CreatedAt:      b.CreatedAt.Time,
		UpdatedAt:      b.UpdatedAt.Time,
		LastActivityAt: b.LastActivityAt.Time,
		ExpiresAt:      b.AutoDestroyAt.Time,
		AsOf:           asOf,
		Error:          text.Clip(p.client.Redact(b.ErrorReason), 500),
		Endpoint:       b.Toolbox,
	}
	if b.AutoDelete != nil && *b.AutoDelete == 0 {
		s.NotStoppable = "it is ephemeral: a stop would delete it"
	}
	if b.DesiredState == destroyed {
		s.Name = formerName(b.Name)
	}
	p.entry.Mark(&s)
	p.entry.OrName(&s)
	return s
}

// formerName undoes the renaming that comes with a delete, DESTROYED_{name}_{ms}, because
// a name prefix still proves whose it was.
func formerName(name string) string {
	rest, renamed := strings.CutPrefix(name, "DESTROYED_")
	at := strings.LastIndexByte(rest, '_')
	if !renamed || at < 0 || strings.Trim(rest[at+1:], "0123456789") != "" {
		return name
	}
	return rest[:at]
}
