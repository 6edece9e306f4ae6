package vercel

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Get reads one session by id. One that is over stays on record, as ended.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, p.look)
}

// look reads the session and then its record, which has the tags. A session that is over
// and has no record any more is gone: nothing is left of it.
func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	if !strings.HasPrefix(id, "sbx_") {
		return reconcile.Sandbox{}, p.noSession(ctx, id)
	}
	var in struct {
		Session session `json:"session"`
	}
	a, err := p.client.Get(ctx, wire.Call{What: "get session", URL: p.at(nil, "sessions", id)}, &in)
	v := &in.Session
	switch {
	case errors.Is(err, reconcile.ErrNotFound) && a.Status == http.StatusNotFound:
		return reconcile.Sandbox{}, p.noSession(ctx, id)
	case err != nil:
		return reconcile.Sandbox{}, err
	case v.ID == "" || v.Status == "":
		return reconcile.Sandbox{}, errors.New("the answer is no session: it has no id or no status")
	case v.ID != id:
		return reconcile.Sandbox{}, fmt.Errorf("%w: %s", wire.ErrAnother, text.Clip(v.ID, 80))
	case v.Project != "" && v.Project != p.project: // another project may have a sandbox of the same name
		v.Name = ""
		return p.of(v, nil, a.Date), nil
	case v.Name == "" && over(v.Status):
		return p.of(v, nil, a.Date), nil
	case v.Name == "":
		return reconcile.Sandbox{}, errors.New("the session does not name its sandbox, so whose it is cannot be known")
	}
	r, _, err := p.record(ctx, v.Name)
	switch gone := errors.Is(err, reconcile.ErrNotFound); {
	case gone && over(v.Status):
		return reconcile.Sandbox{}, err
	case gone && v.Project == "": // no sandbox of this project has the name, so it proves nothing
		r, v.Name = nil, ""
	case gone:
		r = nil
	case err != nil:
		return reconcile.Sandbox{}, err
	}
	return p.of(v, r, a.Date), nil
}

// record reads a record by name, and says in words that it shall not be resumed.
func (p *Provider) record(ctx context.Context, name string) (*record, wire.Answer, error) {
	if err := wire.CheckID(name); err != nil {
		return nil, wire.Answer{}, err
	}
	if isRoute(name) {
		return p.listed(ctx, name)
	}
	var in struct {
		Sandbox record `json:"sandbox"`
	}
	query := url.Values{"projectId": {p.project}, "resume": {"false"}}
	a, err := p.client.Get(ctx, wire.Call{What: "get", URL: p.at(query, name)}, &in)
	switch {
	case err != nil:
		return nil, a, fmt.Errorf("record %s: %w", text.Clip(name, 80), err)
	case in.Sandbox.Name != name || in.Sandbox.Session == "":
		return nil, a, fmt.Errorf("the answer is not record %s: it is %q", text.Clip(name, 80),
			text.Clip(in.Sandbox.Name, 80))
	}
	return &in.Sandbox, a, nil
}

// isRoute reports whether the API has another meaning for a path with the name, so that it cannot
// be asked for the record, nor to delete it.
func isRoute(name string) bool { return name == "sessions" || name == "snapshots" }

// listed finds a record by name in the list, where it is the first that begins with the name. That
// it does not stand there is no proof that there is none.
func (p *Provider) listed(ctx context.Context, name string) (*record, wire.Answer, error) {
	query := url.Values{"project": {p.project}, "limit": {"1"}, "namePrefix": {name}, "sortBy": {"name"},
		"sortOrder": {"asc"}}
	var in page
	a, err := wire.List(ctx, p.client, p.at(query), &in)
	switch {
	case err != nil:
		return nil, a, fmt.Errorf("record %s: %w", name, err)
	case len(in.Items) == 0 || in.Items[0].Name != name || in.Items[0].Session == "":
		return nil, a, fmt.Errorf("the list shows no record %s", name)
	}
	return &in.Items[0], a, nil
}

// Named asks for a sandbox by its name, or by the id of a session, which rows may hold in its
// place; or by the tag that they hold.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	return p.base.Named(ctx, value, func(ctx context.Context, name string) (reconcile.Sandbox, error) {
		r, a, err := p.record(ctx, name)
		switch {
		case errors.Is(err, reconcile.ErrNotFound) && strings.HasPrefix(name, "sbx_"):
			return p.look(ctx, name)
		case err != nil:
			return reconcile.Sandbox{}, err
		}
		return p.sandbox(r, a.Date), nil
	}, func(map[string]string) wire.ReadPage {
		return p.pages(withTag(strings.TrimPrefix(p.entry.Link.Sandbox, "label:"), value))
	})
}

// noSession is the error for an id that no session has. Rows written before there were
// sessions hold what is a name now, and rows may hold names at all: while such a sandbox is
// in a session, it is there, and which one it is in says its listing. Else it is gone.
func (p *Provider) noSession(ctx context.Context, id string) error {
	r, _, err := p.record(ctx, id)
	switch {
	case err != nil:
		return err
	case !p.deletes && over(r.Status):
		return fmt.Errorf("%w: it is the name of a sandbox that is %s", reconcile.ErrNotFound, r.Status)
	}
	return fmt.Errorf("it is the name of a sandbox, whose session is %s: rows that hold names need link: {sandbox: name}",
		text.Clip(r.Session, 80))
}

// Terminate ends the session, after it made sure that the id still is the sandbox expected
// and still ours; or deletes its record, where the entry asks for that.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected), p.end)
}

// end stops the session by its id: a newer session of the same name cannot be met. With
// terminate: record the name is all that the API takes. So the record is read once more, and
// deleted only while this session is its present one; the delete is not repeated. A session
// that outlived its record is stopped.
func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	if !p.deletes {
		return p.stop(ctx, now)
	}
	r, _, err := p.record(ctx, now.Name)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return p.stop(ctx, now)
	case err != nil:
		return "", err
	case r.Session != now.ID:
		return reconcile.TerminateChanged, nil
	case isRoute(now.Name):
		return reconcile.TerminateRefused, fmt.Errorf("the API has no path that deletes a sandbox named %s", now.Name)
	}
	var in struct {
		Sandbox record `json:"sandbox"`
	}
	a, err := p.client.Ask(ctx, wire.Call{What: "delete", Method: http.MethodDelete,
		URL: p.at(url.Values{"projectId": {p.project}}, now.Name)}, &in)
	if err != nil {
		return p.notEnded(a, err)
	}
	return ended(now.ID, in.Sandbox.Session, in.Sandbox.Status)
}

func (p *Provider) stop(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	var in struct {
		Session session `json:"session"`
	}
	a, err := p.client.Alter(ctx, wire.Call{What: "stop", Method: http.MethodPost,
		URL: p.at(nil, "sessions", now.ID, "stop")}, &in)
	if err != nil {
		return p.notEnded(a, err)
	}
	return ended(now.ID, in.Session.ID, in.Session.Status)
}

// ended says what a success means for the session that was to be ended.
func ended(want, id, status string) (reconcile.Termination, error) {
	switch {
	case id != want:
		return "", fmt.Errorf("the answer names session %q", text.Clip(id, 80))
	case over(status):
		return reconcile.TerminateDone, nil
	}
	return reconcile.TerminateAccepted, nil
}

// notEnded says what an answer means that is no success. 422 is a session under way: to its
// end, or to a snapshot, after which it ends by itself.
func (p *Provider) notEnded(a wire.Answer, err error) (reconcile.Termination, error) {
	switch {
	case a.Status == http.StatusUnprocessableEntity && p.client.APIError(a).Code == isEnding:
		return reconcile.TerminateAccepted, nil
	case a.Status == http.StatusUnprocessableEntity:
		return "", wire.Held(err)
	}
	return wire.Unchanged(a, err, http.StatusBadRequest)
}
