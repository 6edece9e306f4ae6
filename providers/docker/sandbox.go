package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
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
		Ref: reconcile.Ref{ID: c.ID}, Raw: c.State, State: states[c.State], Template: c.Image, Labels: c.Labels, AsOf: asOf,
	}
	for _, name := range c.Names { // those with two slashes are what others call it
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") {
			s.Name = name
			break
		}
	}
	if c.Created > 0 { // else it is not said; 1970 would be older than any grace
		s.CreatedAt = time.Unix(c.Created, 0).UTC()
	}
	if c.State == "restarting" { // since when is not said, and it was not created so: the ledger counts
		s.UpdatedAt = asOf
	}
	p.entry.Mark(&s, shorter(c.Image)...)
	p.entry.OrName(&s)
	return s
}

// shorter are the words by which an image may be asked for, besides the one that the engine
// shows: Podman shows its registry also where nobody named one.
func shorter(image string) []string {
	words := []string{image}
	for _, registry := range []string{"docker.io/library/", "docker.io/", "localhost/"} {
		if rest, ok := strings.CutPrefix(image, registry); ok {
			words = append(words, rest)
		}
	}
	for _, word := range words {
		if rest, ok := strings.CutSuffix(word, ":latest"); ok {
			words = append(words, rest)
		}
	}
	return words
}

// inspected is a container as a look by id shows it.
func (p *Provider) inspected(c *container.InspectResponse, asOf time.Time) reconcile.Sandbox {
	state, config := cmp.Or(c.State, &container.State{}), cmp.Or(c.Config, &container.Config{})
	s := p.listed(&summary{ID: c.ID, Names: []string{c.Name}, Image: config.Image, Labels: config.Labels,
		State: string(state.Status)}, asOf)
	s.CreatedAt, s.Error = stamp(c.Created), text.Clip(p.client.Redact(why(state)), 500)
	s.UpdatedAt = slices.MaxFunc([]time.Time{stamp(state.StartedAt), stamp(state.FinishedAt)}, time.Time.Compare)
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

// List reads all containers in one answer, oldest first. Where labels prove the ownership,
// only containers with these labels are asked for.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return p.base.List(ctx, yield, wire.Scope{Read: p.page(p.entry.Owns.Labels), Ours: len(p.entry.Owns.Labels) > 0})
}

// Find asks for the containers whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return p.base.Find(ctx, task, p.page(p.entry.LabelsOf(task)))
}

// Named reads the containers that rows name by name, or by a label.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.base.Named(ctx, value, nil, p.page)
}

// page reads the only page of the containers with these labels.
func (p *Provider) page(labels map[string]string) wire.ReadPage {
	filters := map[string][]string{}
	for key, value := range labels {
		filters["label"] = append(filters["label"], key+"="+value)
	}
	return func(ctx context.Context, _ string) (wire.Page, error) {
		found, a, err := p.containers(ctx, filters)
		if err != nil {
			return wire.Page{}, err
		}
		slices.SortFunc(found, func(a, b summary) int {
			return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
		})
		return wire.PageOf(a, "", found, func(c *summary) reconcile.Sandbox { return p.listed(c, a.Date) })
	}
}

// containers asks as the engine's client does, and reads the answer in a third of its time.
func (p *Provider) containers(ctx context.Context, filters map[string][]string) ([]summary, wire.Answer, error) {
	c, err := p.ready(ctx)
	if err != nil {
		return nil, wire.Answer{}, err
	}
	text, _ := json.Marshal(filters) // texts always encode
	query := url.Values{"all": {"1"}, "filters": {string(text)}}
	var found []summary
	a, err := p.client.Read(ctx, wire.Call{What: "list", Max: maxList,
		URL: p.client.At("v"+c.ClientVersion(), "containers", "json") + "?" + query.Encode()})
	if err == nil {
		err = wire.DecodePage(p.client, a, &found)
	}
	if err == nil && found == nil {
		err = errors.New("the answer is no list")
	}
	return found, a, p.noted(err)
}

// Get reads one container by its full id. What is no such id may be another provider's, and is
// not here unless the engine finds a container by it.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		if err := checkID(id); err != nil {
			return reconcile.Sandbox{}, p.unlike(ctx, id, err)
		}
		return p.look(ctx, id)
	})
}

// names are what a container may be called, and what an id may begin with.
var names = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// unlike says what a value is that is no full id. Rows may hold names, or ids that were cut short,
// and nobody is to be told that such a container is gone.
func (p *Provider) unlike(ctx context.Context, value string, noID error) error {
	if !names.MatchString(value) {
		return fmt.Errorf("%w: %w", reconcile.ErrNotFound, noID)
	}
	_, err := p.call(ctx, func(ctx context.Context, c *client.Client) error {
		_, err := c.ContainerInspect(ctx, value, client.ContainerInspectOptions{})
		return err
	})
	if err == nil {
		err = fmt.Errorf("%w, and a container answers to it: let rows hold full ids, or say link: {sandbox: name}", noID)
	}
	return err
}

// look reads by id. While a command of a container hangs, or its end does, the engine does
// not answer for that container; what it lists it still does.
func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	patience := p.timeout / 2
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, a, err := p.inspect(within, id)
	switch {
	case err == nil:
		return p.inspected(&c, a.Date), nil
	case within.Err() == nil || ctx.Err() != nil:
		return reconcile.Sandbox{}, err
	}
	found, a, err := p.containers(ctx, map[string][]string{"id": {id}})
	if err != nil || len(found) != 1 || found[0].ID != id { // which is no proof that it is gone
		return reconcile.Sandbox{}, fmt.Errorf("%w within %s", errLate, patience)
	}
	return p.listed(&found[0], a.Date), nil
}

// inspect reads by id. The engine also finds names, and ids that only begin so.
func (p *Provider) inspect(ctx context.Context, id string) (container.InspectResponse, wire.Answer, error) {
	found, a, err := ask(ctx, thing{p, id}, (*client.Client).ContainerInspect, client.ContainerInspectOptions{})
	c := found.Container
	switch {
	case err != nil:
	case c.ID == "", c.ID == id, strings.TrimPrefix(c.Name, "/") == id: // found by its name: no container has the id
		err = wire.Same("container", id, c.ID)
	default: // somebody before the engine mixed answers up, and nothing is known of the one asked for
		err = fmt.Errorf("the answer is another container: %s", text.Clip(c.ID, fullID))
	}
	return c, a, err
}
