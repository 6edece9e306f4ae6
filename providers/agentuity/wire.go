package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A box is a sandbox on the wire: of the vendor's fields those that are used. A listing
// shows no project. Everything may be missing.
type box struct {
	ID        string     `json:"sandboxId"`
	Name      string     `json:"name"`
	Status    string     `json:"status"`
	Region    string     `json:"region"`
	CreatedAt wire.Stamp `json:"createdAt"`
	Snapshot  *snapshot  `json:"snapshot"`
	Org       *named     `json:"org"`
	Project   *named     `json:"project"`
	Output    string     `json:"stdoutStreamUrl"`
	Timeout   struct {
		Idle      string `json:"idle"`
		Execution string `json:"execution"`
	} `json:"timeout"`
}

type named struct {
	ID string `json:"id"`
}

type snapshot struct {
	ID       string `json:"id"`
	Snapshot string `json:"snapshotId"` // the same, where it is asked for by itself
	Name     string `json:"name"`
	Tag      string `json:"tag"`
	Deleted  bool   `json:"deleted"`
}

// states are the vendor's words for the canonical states.
var states = map[string]reconcile.SandboxState{
	"creating":   reconcile.SandboxCreating,
	"idle":       reconcile.SandboxRunning,
	"running":    reconcile.SandboxRunning,
	"paused":     reconcile.SandboxSuspended,
	"suspended":  reconcile.SandboxSuspended, // by the vendor; a command wakes it
	"stopping":   reconcile.SandboxDeleting,
	"terminated": reconcile.SandboxEnded,
	"deleted":    reconcile.SandboxEnded,
	"failed":     reconcile.SandboxFailed,
}

// template is what a sandbox was made from, as it can be asked for.
func (s *snapshot) template() string {
	switch {
	case s == nil:
		return ""
	case s.Name == "":
		return s.ID
	case s.Tag == "" || s.Tag == "latest":
		return s.Name
	}
	return s.Name + ":" + s.Tag
}

// sandbox is the box in the words of the contract. One of another organization or project
// is not ours, whatever its name is.
func (p *Provider) sandbox(b *box, asOf time.Time) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: b.ID}, Name: b.Name, Raw: b.Status, State: states[b.Status],
		Template: b.Snapshot.template(), Region: b.Region, CreatedAt: b.CreatedAt.Time, AsOf: asOf,
	}
	if b.Project != nil && b.Project.ID != "" {
		s.Labels = map[string]string{projectLabel: b.Project.ID}
	}
	p.entry.Mark(&s)
	if other(b.Org, p.org) || other(b.Project, p.project) {
		s.Owned = false
	}
	return s
}

func other(is *named, want string) bool {
	return want != "" && is != nil && is.ID != "" && is.ID != want
}

// An envelope is around every answer. Few hold something beside the data.
type envelope[T any] struct {
	Success *bool  `json:"success"`
	Message string `json:"message"`
	Code    string `json:"code"`
	Data    T      `json:"data"`
	Status  string `json:"status"`      // of a sandbox that is paused
	Resumed bool   `json:"autoResumed"` // by a command
}

// open reads an answer. One that says 200 and no success is a refusal.
func open[T any](p *Provider, a wire.Answer) (envelope[T], error) {
	var in envelope[T]
	if err := wire.DecodePage(p.client, a, &in); err != nil {
		return in, err
	}
	if in.Success == nil {
		return in, fmt.Errorf("%w: it does not say success", wire.ErrNotAPI)
	}
	if !*in.Success {
		words := wire.Clip(p.client.Redact(strings.TrimSpace(in.Code+" "+in.Message)), 300)
		r := &wire.Refusal{Status: a.Status, Words: words}
		if absent(in.Code, "") {
			r.Kind = reconcile.ErrNotFound
		}
		return in, r
	}
	return in, nil
}

// said reads the error of an answer, with the number by which the vendor's support finds it.
func said(a wire.Answer) wire.Said {
	s := wire.SaidIn(a)
	if session := a.Header.Get("X-Session-Id"); session != "" && a.Status >= http.StatusInternalServerError {
		s.Text = strings.TrimSpace(s.Text + " (" + session + ")")
	}
	return s
}

// certain reports whether a 404 says that the thing itself is not there. A router and a
// gateway say no more than "Not Found". A 410 says nothing else.
func certain(a wire.Answer, s wire.Said) bool {
	if a.Status == http.StatusGone {
		return wire.IsJSON(a.Header) || len(a.Body) == 0
	}
	return absent(s.Code, s.Text)
}

func absent(code, words string) bool {
	words = strings.ToLower(words)
	return code == "SANDBOX_NOT_FOUND" || code == "SNAPSHOT_NOT_FOUND" ||
		code == "" && (strings.HasPrefix(words, "sandbox") || strings.HasPrefix(words, "snapshot")) &&
			strings.Contains(words, "not found")
}

// A call goes to the data plane of a region.
type call struct {
	wire.Call
	region string // where it was answered, after it
	path   []string
	query  url.Values
}

// A sender makes one call: [wire.Client.Read] or [wire.Client.Once].
type sender func(context.Context, wire.Call) (wire.Answer, error)

// send makes a call. A region that does not hold the sandbox names the one that does, and
// did nothing; that one is asked instead, once.
func (p *Provider) send(ctx context.Context, c *call, how sender) (wire.Answer, error) {
	a, err := how(ctx, p.addressed(c))
	to := a.Header.Get("X-Agentuity-Region")
	if err != nil || a.Status != http.StatusMisdirectedRequest || to == c.region || !region.MatchString(to) ||
		!p.everywhere() {
		return a, err
	}
	c.region = to
	return how(ctx, p.addressed(c))
}

func (p *Provider) addressed(c *call) wire.Call {
	query := url.Values{}
	for key, values := range c.query {
		query[key] = values
	}
	if p.org != "" {
		query.Set("orgId", p.org)
	}
	k := c.Call
	k.URL = wire.Join(strings.ReplaceAll(p.catalyst, inRegion, c.region), c.path...)
	if len(query) > 0 {
		k.URL += "?" + query.Encode()
	}
	return k
}

// fetch reads a thing from where a sandbox is.
func fetch[T any](ctx context.Context, p *Provider, c call) (T, wire.Answer, error) {
	a, err := p.send(ctx, &c, p.client.Read)
	if err != nil {
		var none T
		return none, a, err
	}
	in, err := open[T](p, a)
	return in.Data, a, err
}

// turned tells what the answer to a change means, where it is no success.
func turned(a wire.Answer, err error) (reconcile.Termination, error) {
	var no *wire.Refusal
	switch {
	case a.Status == http.StatusConflict: // another one is under way, or it is in another state
		return "", wire.Held(err)
	case a.Status == http.StatusBadRequest, a.Status == http.StatusPaymentRequired,
		a.Status == http.StatusUnprocessableEntity, a.OK() && errors.As(err, &no):
		return reconcile.TerminateRefused, err
	}
	return "", err
}
