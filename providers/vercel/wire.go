package vercel

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A stamp is a time in milliseconds since 1970, as a number that need not be whole. It is
// read as one because that is the fast way; what is no time is the zero time.
type stamp float64

func (s stamp) time() time.Time {
	if s <= 0 || s > 1e14 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s)).UTC()
}

// A record is a named sandbox on the wire: of the vendor's fields those that are used.
type record struct {
	Name      string            `json:"name"`
	Session   string            `json:"currentSessionId"`
	Status    string            `json:"status"`
	Region    string            `json:"region"`
	CPU       wire.Amount       `json:"vcpus"`
	Memory    wire.Amount       `json:"memory"` // MB
	Image     string            `json:"image"`
	Tags      map[string]string `json:"tags"`
	CreatedAt stamp             `json:"createdAt"`
	UpdatedAt stamp             `json:"updatedAt"`
	Since     stamp             `json:"statusUpdatedAt"`
	ExpiresAt stamp             `json:"expiresAt"` // only while it runs
}

// A page is one page of records. Both parts are checked: an answer without them is no page.
type page struct {
	Items  []record `json:"sandboxes"`
	Paging *struct {
		Next string `json:"next"`
	} `json:"pagination"`
}

// A session is one run of a record. It shows no tags.
type session struct {
	ID        string      `json:"id"`
	Name      string      `json:"sourceSandboxName"`
	Project   string      `json:"projectId"`
	Status    string      `json:"status"`
	Region    string      `json:"region"`
	CPU       wire.Amount `json:"vcpus"`
	Memory    wire.Amount `json:"memory"` // MB
	CreatedAt stamp       `json:"createdAt"`
	StartedAt stamp       `json:"startedAt"`
	UpdatedAt stamp       `json:"updatedAt"`
}

const (
	pending  = "pending"
	running  = "running"
	stopping = "stopping"
	stopped  = "stopped"
)

// states are the vendor's words for the canonical states of a session. What takes a snapshot
// is on its way to be stopped: that ends the session.
var states = map[string]reconcile.SandboxState{
	pending:        reconcile.SandboxCreating,
	running:        reconcile.SandboxRunning,
	stopping:       reconcile.SandboxDeleting,
	"snapshotting": reconcile.SandboxDeleting,
	stopped:        reconcile.SandboxEnded,
	"failed":       reconcile.SandboxEnded,
	"aborted":      reconcile.SandboxEnded,
}

// kept are the states of what is over while its record is still there, where the record is
// what a terminate deletes.
var kept = map[string]reconcile.SandboxState{
	stopped:   reconcile.SandboxStopped,
	"failed":  reconcile.SandboxFailed,
	"aborted": reconcile.SandboxFailed,
}

// over reports whether a session with the status never runs again.
func over(status string) bool { return states[status] == reconcile.SandboxEnded }

func (p *Provider) state(status string, current bool) reconcile.SandboxState {
	if p.deletes && current && over(status) {
		return kept[status]
	}
	return states[status]
}

// since is when the record's status last changed.
func (r *record) since() stamp {
	if r.Since > 0 {
		return r.Since
	}
	return r.UpdatedAt
}

// ran is since when the present session runs. The record's own age is that of its name, so
// without a word of the session nothing is said.
func (r *record) ran() time.Time {
	if r.Status != running || r.Since <= 0 {
		return time.Time{}
	}
	return max(r.CreatedAt, r.Since).time()
}

// rests reports whether what is judged is a record without a session that runs: its own age
// counts then.
func (p *Provider) rests(status string) bool { return p.deletes && over(status) }

// sandbox is the present session of a record, in the words of the contract.
func (p *Provider) sandbox(r *record, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref:       reconcile.Ref{ID: r.Session},
		Name:      r.Name,
		Raw:       r.Status,
		State:     p.state(r.Status, true),
		Template:  r.Image,
		Region:    r.Region,
		Size:      wire.Size(r.CPU, 0, r.Memory/1024),
		Labels:    r.Tags,
		CreatedAt: r.ran(),
		UpdatedAt: r.since().time(),
		ExpiresAt: r.ExpiresAt.time(),
		AsOf:      asOf,
	}
	if p.rests(r.Status) {
		s.CreatedAt = r.CreatedAt.time()
	}
	began(&s, s.CreatedAt, s.UpdatedAt)
	p.mark(&s)
	return s
}

// began notes when the present session began: somebody wanted the sandbox then. Of its use since
// the vendor tells nothing.
func began(s *reconcile.Sandbox, stamps ...time.Time) {
	for _, at := range stamps {
		if (s.Raw == running || s.Raw == pending) && at.After(s.LastActivityAt) {
			s.LastActivityAt = at
		}
	}
}

// mark is [entry.Entry.Mark]. Rows may hold ids or names, and some hold either, by the client
// that wrote them. A record from before sessions has its former id for a name, and that is
// what rows hold, whichever session it is in by now.
func (p *Provider) mark(s *reconcile.Sandbox) {
	p.entry.Mark(s)
	s.StableName = true // a record's next session has its name, and goes on with its work
	if p.entry.Link.Sandbox != "id" {
		return
	}
	s.AltKey = s.Name
	if strings.HasPrefix(s.Name, "sbx_") {
		s.SandboxKey, s.AltKey = s.Name, s.ID
	}
}

// of is a session that was asked for, with what its record says beyond it. The record's
// tags are its own only when it is the record's present one, or over.
func (p *Provider) of(v *session, r *record, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{Ref: reconcile.Ref{ID: v.ID}, Name: v.Name, Raw: v.Status, State: p.state(v.Status, false),
		Region: v.Region, Size: wire.Size(v.CPU, 0, v.Memory/1024), UpdatedAt: v.UpdatedAt.time(), AsOf: asOf}
	switch {
	case r == nil:
	case r.Session == v.ID:
		now := *r
		now.Status = v.Status
		s = p.sandbox(&now, asOf)
	case over(v.Status):
		s.Labels = r.Tags
	}
	if v.Status != running && v.Status != pending && !p.rests(s.Raw) {
		s.CreatedAt = v.CreatedAt.time()
	}
	began(&s, v.CreatedAt.time(), v.StartedAt.time())
	p.mark(&s)
	return s
}
