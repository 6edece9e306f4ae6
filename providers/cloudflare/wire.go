package cloudflare

import (
	"cmp"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An instance is a container on the control plane's wire: of the vendor's fields those that
// are used. Everything may be missing.
type instance struct {
	ID     string `json:"id"` // of its Durable Object
	Name   string `json:"name"`
	Image  string `json:"image"`
	Status struct {
		State     string     `json:"state"`
		UpdatedAt wire.Stamp `json:"updated_at"`
	} `json:"status"`
	Location struct {
		Name   string `json:"name"`
		Region string `json:"region"`
	} `json:"location"`
	StartedAt wire.Stamp `json:"started_at"`
}

// An envelope is what the control plane puts its results into.
type envelope[T any] struct {
	Success bool `json:"success"`
	Result  T    `json:"result"`
	Info    struct {
		Next string `json:"next_page_token"`
	} `json:"result_info"`
}

// A record is a sandbox in the Worker's registry.
type record struct {
	ID             string            `json:"id"` // the name of its Durable Object
	Status         string            `json:"status"`
	CreatedAt      wire.Stamp        `json:"created_at"`
	AgentType      string            `json:"agent_type"`
	Task           string            `json:"task_id"`
	Labels         map[string]string `json:"labels"`
	Container      string            `json:"container"`
	LastActivityAt wire.Stamp        `json:"last_activity_at"`
	Actor          string            `json:"actor_id"` // the id of its Durable Object
	Image          string            `json:"image"`
}

// records is a page of the registry. Old Workers answer with the bare list.
type records struct {
	Sandboxes []record `json:"sandboxes"`
	Next      string   `json:"next_cursor"`
}

// ofContainer are the control plane's words for the canonical states. What stopped is over:
// a container keeps no disk, and the same object starts another one.
var ofContainer = map[string]reconcile.SandboxState{
	"provisioning": reconcile.SandboxCreating,
	"running":      reconcile.SandboxRunning,
	"unhealthy":    reconcile.SandboxRunning, // a probe tells what is the matter
	"stopping":     reconcile.SandboxDeleting,
	"stopped":      reconcile.SandboxEnded,
	"inactive":     reconcile.SandboxSuspended,
	"failed":       reconcile.SandboxFailed,
}

// ofRecord are the registry's words.
var ofRecord = map[string]reconcile.SandboxState{
	"provisioning": reconcile.SandboxCreating,
	"running":      reconcile.SandboxRunning,
	"failed":       reconcile.SandboxFailed,
	"terminating":  reconcile.SandboxDeleting,
	"terminated":   reconcile.SandboxEnded,
}

// What the Worker says of the container behind a record.
const (
	containerRuns   = "running"
	containerSleeps = "stopped"
	containerLost   = "missing"
	containerMute   = "unknown" // its object did not answer
)

// A pair is what is known of one sandbox: its record, its container, or both.
type pair struct {
	record   *record
	instance *instance
}

// runs reports whether there is a record that says running.
func (of pair) runs() bool {
	return of.record != nil && ofRecord[of.record.Status] == reconcile.SandboxRunning
}

// sandbox is the pair in the words of the contract.
func (p *Provider) sandbox(of pair, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{AsOf: asOf}
	if i := of.instance; i != nil {
		s.ID, s.Name, s.Raw, s.State = i.ID, i.Name, i.Status.State, ofContainer[i.Status.State]
		s.Template, s.Region = i.Image, cmp.Or(i.Location.Region, i.Location.Name)
		s.CreatedAt, s.UpdatedAt = i.StartedAt.Time, i.Status.UpdatedAt.Time
		if s.CreatedAt.IsZero() { // it did not start yet
			s.CreatedAt = s.UpdatedAt
		}
		if p.worker != nil && i.Name != "" {
			s.ID = i.Name
		}
	}
	if r := of.record; r != nil {
		s.ID, s.Name, s.Raw, s.State = r.ID, r.ID, r.Status, ofRecord[r.Status]
		s.Template, s.CreatedAt = cmp.Or(r.Image, s.Template), r.CreatedAt.Time
		s.LastActivityAt, s.Labels = r.LastActivityAt.Time, r.marks()
		of.confront(&s)
	} else {
		s.NotTerminable = p.notTerminable()
	}
	if i := of.instance; i != nil && s.State != reconcile.SandboxCreating && ofContainer[i.Status.State] != s.State {
		s.UpdatedAt = time.Time{} // since then its container is as it is, and the registry does not say since when
	}
	p.mark(&s, of)
	return s
}

// namesLast reports whether what goes by a name goes on with the work of what had it before: nothing else tells
// its task.
func (p *Provider) namesLast() bool { return p.worker == nil || p.entry.Link.TaskLabel == "" }

// mark is [entry.Entry.Mark]. Rows may name a sandbox by the id that it has when the other half
// is configured alone. Where nothing else tells its task, what goes by a name that a sandbox had
// goes on with that one's work: a name is one object's for ever.
func (p *Provider) mark(s *reconcile.Sandbox, of pair) {
	p.entry.Mark(s)
	s.StableName = s.Name != "" && p.namesLast()
	object, name := "", s.Name
	if r := of.record; r != nil {
		object = r.Actor
	}
	if i := of.instance; i != nil {
		object, name = i.ID, i.Name
	}
	switch link := p.entry.Link.Sandbox; {
	case link == "id" && s.ID == object, link == "name" && name != s.Name:
		s.AltKey = name
	case link == "id", link == "name":
		s.AltKey = object
	}
}

// marks are the record's labels, with the two that every registry has.
func (r *record) marks() map[string]string {
	out := map[string]string{}
	maps.Copy(out, r.Labels)
	for key, value := range map[string]string{"agent_type": r.AgentType, "task_id": r.Task} {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

// confront holds a record that says running against what is behind it. Hollow is only what
// somebody who knows says that nothing runs behind, and nobody contradicts.
func (of pair) confront(s *reconcile.Sandbox) {
	if s.State != reconcile.SandboxRunning {
		return
	}
	shown := ""
	if of.instance != nil {
		shown = of.instance.Status.State
	}
	behind, said := ofContainer[shown], of.record.Container
	switch {
	case behind == reconcile.SandboxRunning:
		return
	case behind == reconcile.SandboxDeleting: // on its way to sleep
		behind = reconcile.SandboxSuspended
	case behind == reconcile.SandboxCreating, behind == reconcile.SandboxSuspended,
		shown != "" && behind == reconcile.SandboxUnknown:
	case said == containerRuns:
		return // its own object says so: a probe decides
	case said == containerLost:
		s.NoContainer, s.Error = true, "its own object says that it has no container"
		return
	case said == containerSleeps, behind == reconcile.SandboxEnded:
		behind, shown = reconcile.SandboxSuspended, containerSleeps
	case behind == reconcile.SandboxFailed && said != containerMute:
		s.NoContainer, s.Error = true, "the control plane shows that its container "+shown
		return
	default:
		return // its object did not answer, or it is not shown: see Decisions
	}
	s.State = behind
	s.Raw += ", container " + shown
}
