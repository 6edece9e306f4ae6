package agentuity

import (
	"cmp"
	"context"
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
	ExitCode  *int       `json:"exitCode"` // of what is over
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

// names are the further words for what a sandbox was made from.
func (s *snapshot) names() []string {
	if s == nil {
		return nil
	}
	return []string{s.ID, s.Name, s.Name + ":" + s.Tag}
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
	p.entry.Mark(&s, b.Snapshot.names()...)
	s.Canary = p.isCanary(b.Name)
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
	Code    string `json:"code"`
	Data    T      `json:"data"`
	Status  string `json:"status"`      // of a sandbox that is paused
	Resumed bool   `json:"autoResumed"` // by a command
}

// busyCode is of a sandbox that runs something.
const busyCode = "SANDBOX_BUSY"

// meant are the statuses that the vendor's codes stand for.
var meant = map[string]int{
	busyCode: http.StatusConflict, "SANDBOX_NOT_FOUND": http.StatusNotFound, "SNAPSHOT_NOT_FOUND": http.StatusNotFound,
}

// A call goes to the data plane of a region, unless its address names no region.
type call struct {
	wire.Call
	region string // where it was answered, after it
}

// at is a call for a thing in a region.
func (p *Provider) at(place, what string, query url.Values, path ...string) *call {
	if p.org != "" {
		query.Set("orgId", p.org)
	}
	address := wire.Join(p.catalyst, path...)
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return &call{wire.Call{What: what, URL: address}, place}
}

// there is the call with the region in its address.
func (c *call) there() wire.Call {
	k := c.Call
	k.URL = strings.ReplaceAll(k.URL, inRegion, c.region)
	return k
}

// ask makes a call and opens the envelope of its answer: again where it only reads, once where
// it names a method. A region that does not hold the sandbox names the one that does, and did
// nothing; that one is asked instead, once. What says 200 and no success is a refusal, with
// the status that its code stands for.
func ask[T any](ctx context.Context, p *Provider, c *call) (in envelope[T], a wire.Answer, err error) {
	how := p.client.Read
	if c.Method != "" {
		how = p.client.Once
	}
	a, err = how(ctx, c.there())
	to := a.Header.Get("X-Agentuity-Region")
	if a.Status == http.StatusMisdirectedRequest && to != c.region && region.MatchString(to) && p.everywhere() {
		c.region = to
		a, err = how(ctx, c.there())
	}
	if err == nil {
		err = wire.DecodePage(p.client, a, &in)
	}
	switch {
	case err != nil:
	case in.Success == nil:
		err = fmt.Errorf("%w: it does not say success", wire.ErrNotAPI)
	case !*in.Success:
		a.Status = cmp.Or(meant[in.Code], http.StatusUnprocessableEntity)
		err = p.client.Refuse(a)
	}
	return in, a, err
}

// said reads the error of an answer, with the number by which the vendor's support finds it.
func said(a wire.Answer) wire.APIError {
	s := wire.SaidIn(a)
	if session := a.Header.Get("X-Session-Id"); session != "" && a.Status >= http.StatusInternalServerError {
		s.Text = strings.TrimSpace(s.Text + " (" + session + ")")
	}
	return s
}

// certain reports whether a 404 says that the thing itself is not there. A router and a
// gateway say no more than "Not Found". A 410 says nothing else.
func certain(a wire.Answer, s wire.APIError) bool {
	if a.Status == http.StatusGone {
		return wire.IsJSON(a.Header) || len(a.Body) == 0
	}
	words := strings.ToLower(s.Text)
	return meant[s.Code] == http.StatusNotFound ||
		s.Code == "" && strings.Contains(words, "not found") &&
			(strings.HasPrefix(words, "sandbox") || strings.HasPrefix(words, "snapshot"))
}
