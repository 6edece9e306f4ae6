package docker

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// paused is the state of what was suspended, and of nothing else.
const paused = "paused"

// states are the engines' words for the canonical states; the last ones are Podman's.
var states = map[string]reconcile.SandboxState{
	"created":    reconcile.SandboxCreating,
	"restarting": reconcile.SandboxCreating, // waits for its next start
	"running":    reconcile.SandboxRunning,
	paused:       reconcile.SandboxSuspended,
	"exited":     reconcile.SandboxStopped,
	"dead":       reconcile.SandboxFailed, // a removal that failed half-way: it is to be removed again
	"removing":   reconcile.SandboxDeleting,

	"configured":  reconcile.SandboxCreating,
	"initialized": reconcile.SandboxCreating,
	"stopping":    reconcile.SandboxSuspended, // a transition: it is stopped when it is stopped
	"stopped":     reconcile.SandboxStopped,
}

// fullID is the length of an id. Shorter ones are found as well, but name whatever begins so.
const fullID = 64

// checkID refuses what is no full id, which would find a name, or lead to another path.
func checkID(id string) error {
	if len(id) == fullID && strings.Trim(id, "0123456789abcdef") == "" {
		return nil
	}
	return fmt.Errorf("%w: %q is not the full id of a container, %d hexadecimal digits", reconcile.ErrUnknownID,
		wire.Clip(id, 80), fullID)
}

// A summary is a container in a listing: of its fields those that are used.
type summary struct {
	ID      string            `json:"Id"`
	Names   []string          `json:"Names"`
	Image   string            `json:"Image"`
	Created int64             `json:"Created"` // seconds since 1970
	Labels  map[string]string `json:"Labels"`
	State   string            `json:"State"`
}

// listed is a container as a listing shows it.
func (p *Provider) listed(c *summary, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: c.ID}, Name: ownName(c.Names), Raw: c.State, State: states[c.State], Template: c.Image,
		Labels: c.Labels, AsOf: asOf,
	}
	if c.Created > 0 { // else it is not said; 1970 would be older than any grace
		s.CreatedAt = time.Unix(c.Created, 0).UTC()
	}
	p.entry.Mark(&s)
	return s
}

// ownName is the container's own name; those with two slashes are what others call it.
func ownName(names []string) string {
	for _, name := range names {
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") {
			return name
		}
	}
	return ""
}

// inspected is a container as a look by id shows it.
func (p *Provider) inspected(c *container.InspectResponse, asOf time.Time) reconcile.Sandbox {
	state, config := cmp.Or(c.State, &container.State{}), cmp.Or(c.Config, &container.Config{})
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: c.ID}, Name: strings.TrimPrefix(c.Name, "/"), Raw: string(state.Status),
		State: states[string(state.Status)], Template: config.Image, Labels: config.Labels,
		CreatedAt: stamp(c.Created), AsOf: asOf, Error: wire.Clip(p.client.Redact(why(state)), 500),
	}
	for _, at := range []time.Time{stamp(state.StartedAt), stamp(state.FinishedAt)} {
		if at.After(s.UpdatedAt) {
			s.UpdatedAt = at
		}
	}
	p.entry.Mark(&s)
	return s
}

// why is what the engine says of an end, or of a start that failed.
func why(s *container.State) string {
	switch {
	case s.Error != "":
		return s.Error
	case s.OOMKilled:
		return fmt.Sprintf("killed: out of memory (exit %d)", s.ExitCode)
	case !s.Running && s.ExitCode != 0:
		return fmt.Sprintf("exit %d", s.ExitCode)
	}
	return ""
}

// stamp is a time that may be missing, nonsense or the year 1.
func stamp(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() < 1970 {
		return time.Time{}
	}
	return at.UTC()
}
