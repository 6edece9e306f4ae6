package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// slowTurn is how long a pause or a resume may take: they write and read the checkpoint, and
// answer when that is done.
const slowTurn = time.Minute

// Get reads one sandbox by id.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, p.look)
}

func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, error) {
	b, a, err := p.get(ctx, id)
	return p.sandbox(&b, a.Date), err
}

// get finds a sandbox in whichever region it is, also one that was deleted.
func (p *Provider) get(ctx context.Context, id string) (b box, a wire.Answer, err error) {
	in := func(place string) error {
		c := p.at(place, "get", url.Values{"includeDeleted": {"true"}}, "sandbox", id)
		in, got, err := ask[box](ctx, p, c)
		if err == nil && in.Data.ID != id { // nothing that this vendor does explains it
			err = fmt.Errorf("the answer is not sandbox %s: it is %q", id, text.Clip(in.Data.ID, 80))
		}
		b, a = in.Data, got
		b.Region = p.home(b.Region, c.region)
		return err
	}
	if err = p.anywhere(ctx, in); errors.Is(err, reconcile.ErrNotFound) && p.everywhere() {
		place, unknown := p.resolve(ctx, id)
		switch {
		case unknown != nil:
			err = unknown
		case place != "":
			err = in(place)
		}
	}
	return b, a, err
}

// resolve is the region in which the control plane knows a sandbox that no region has which we
// ask: the entry, or the list of regions, may name fewer than there are. It is "" where it knows
// none, and where it refuses to tell, for not every key may ask it.
func (p *Provider) resolve(ctx context.Context, id string) (string, error) {
	in, a, err := ask[struct {
		ID     string `json:"id"`
		Region string `json:"region"`
	}](ctx, p, &call{Call: wire.Call{What: "resolve", URL: p.client.At("cli", "sandbox", id), Inside: true}})
	switch {
	case err == nil && in.Data.ID == id && region.MatchString(in.Data.Region):
		return in.Data.Region, nil
	case err == nil && in.Data.ID == id:
		return "", fmt.Errorf("the control plane says that it is in region %q", text.Clip(in.Data.Region, 40))
	case err == nil, a.Status/100 == 4 && a.Status != http.StatusTooManyRequests:
		return "", nil
	}
	return "", fmt.Errorf("ask in which region it is: %w", err)
}

// home is the region of a sandbox that was seen in one: that one, since further calls go
// there, with the credential. Its own word is only for people, where there is one address.
func (p *Provider) home(said, seen string) string {
	if p.everywhere() || said == "" {
		return seen
	}
	return said
}

// Terminate destroys the sandbox, after it made sure that the id still is the sandbox
// expected and still ours. An error without a termination means that nobody knows whether it
// was carried out.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Terminate(ctx, expected, wire.Look(p.look).Or(expected), p.end)
}

// end asks once. Whatever well it answers, the sandbox is gone when a look says so: also a
// 404, of what was seen right before.
func (p *Provider) end(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
	_, a, err := p.change(ctx, now, http.MethodDelete)
	if err == nil || errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.TerminateAccepted, nil
	}
	return wire.Unchanged(a, err, refusals...)
}

// refusals are the statuses by which the vendor refuses for good.
var refusals = []int{http.StatusBadRequest, http.StatusPaymentRequired, http.StatusUnprocessableEntity}

// change asks once for a change of a sandbox: its end, or what verb says. A 409 means that it
// is busy, in another state, or that its checkpoint is still being written.
func (p *Provider) change(ctx context.Context, s reconcile.Sandbox, method string, verb ...string) (
	envelope[any], wire.Answer, error,
) {
	c := p.at(s.Region, "change", url.Values{}, append([]string{"sandbox", s.ID}, verb...)...)
	c.Method = method
	if len(verb) > 0 {
		c.Timeout = slowTurn
	}
	return ask[any](ctx, p, c)
}

// Suspend pauses the sandbox: a checkpoint of it is kept. The vendor ends it when its paused
// time-out is over.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	return p.base.Suspend(ctx, expected, p.turns())
}

// Resume brings it back from its checkpoint.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	return p.base.Resume(ctx, expected, p.turns())
}

func (p *Provider) turns() wire.Turns {
	return wire.Turns{
		Look: p.look,
		Stop: func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error) {
			in, a, err := p.change(ctx, now, http.MethodPost, "pause")
			switch {
			case err != nil:
				return wire.Unchanged(a, err, refusals...)
			case states[in.Status] == reconcile.SandboxSuspended:
				return reconcile.TerminateDone, nil
			}
			return reconcile.TerminateAccepted, nil
		},
		Start: func(ctx context.Context, now reconcile.Sandbox) error {
			_, a, err := p.change(ctx, now, http.MethodPost, "resume")
			return wire.Unstarted(a, err)
		},
		Resting: func(reconcile.Sandbox) reconcile.Termination { return reconcile.TerminateDone },
	}
}

// Template reads a snapshot by name, name:tag or id. Snapshots have no state: one is there,
// or it was deleted.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return p.base.Template(ctx, "snapshot", name, p.snapshot)
}

// snapshotID is the form of a snapshot's id.
var snapshotID = regexp.MustCompile(`^(snp|sss)_`)

// snapshot finds one in whichever region it is.
func (p *Provider) snapshot(ctx context.Context, name string) (t reconcile.Template, a wire.Answer, err error) {
	t = reconcile.Template{Name: name, Raw: "there", State: reconcile.TemplateActive}
	err = p.anywhere(ctx, func(place string) (err error) {
		t.ID, a, err = p.snapshotIn(ctx, place, name)
		return err
	})
	return t, a, err
}

// snapshotIn asks for the lineage, which begins with the snapshot itself, takes an id or a name
// with its tag, and tells what was deleted. What has no lineage is asked for by its id.
func (p *Provider) snapshotIn(ctx context.Context, place, name string) (string, wire.Answer, error) {
	isID := snapshotID.MatchString(name)
	ref := name
	if !isID && !strings.Contains(name, ":") {
		ref += ":latest"
	}
	in, a, err := ask[struct {
		Lineage []snapshot `json:"lineage"`
	}](ctx, p, p.at(place, "lineage", url.Values{"snapshot": {ref}, "limit": {"1"}}, "sandbox", "snapshots", "lineage"))
	found := in.Data.Lineage
	if err == nil && found != nil && len(found) == 0 && isID {
		var one envelope[snapshot]
		one, a, err = ask[snapshot](ctx, p, p.at(place, "snapshot", url.Values{}, "sandbox", "snapshots", name))
		found = []snapshot{one.Data}
	}
	switch {
	case err != nil:
		return "", a, err
	case found == nil:
		return "", a, errors.New("the answer is no lineage")
	case len(found) == 0 || found[0].Deleted:
		return "", a, fmt.Errorf("%w: it was deleted, or never was", reconcile.ErrNotFound)
	case found[0].Snapshot == "":
		return "", a, errors.New("the answer is no snapshot: it has no id")
	}
	return found[0].Snapshot, a, nil
}

// Activate cannot do anything: no snapshot is ever inactive.
func (p *Provider) Activate(_ context.Context, name string) error {
	return p.base.Wrap("activate snapshot", name,
		wire.Unable("a snapshot of agentuity is there or deleted, and never inactive"))
}
