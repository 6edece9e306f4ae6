package generic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var fixes = wire.Fixes{
	Refused: "set token: to a credential that the platform takes, and see api.headers",
	URL:     "correct url: and the paths in api:",
}

// Check tests the description against the platform: a page of the list, one sandbox by its
// id, and what is answered of an id and of an address that nobody has.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	var lacks []string
	scope := p.scopes(p.spec.list, vars{}, &lacks)[0]
	page, err := scope.Read(ctx, "")
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("listing", err)}
	}
	again := func(context.Context, string) (wire.Page, error) { return page, nil }
	out := []reconcile.CheckResult{p.described(), p.frame.CheckListing(ctx, again, fixes), p.words(page)}
	if len(lacks) > 0 {
		out = append(out, reconcile.CheckResult{What: "listing lacks", Said: fmt.Sprint(lacks),
			Fix: "nothing is known of these; see the platform"})
	}
	if len(page.Sandboxes) == 0 {
		return append(out, reconcile.CheckResult{What: "get", OK: true, Said: "not tested: no sandbox is there"})
	}
	return append(out, p.found(ctx, page.Sandboxes[0].ID), p.absent(ctx, page.Sandboxes[0].ID), p.elsewhere(ctx))
}

// described says what the description lets sandkeeper do.
func (p *Provider) described() reconcile.CheckResult {
	can, cannot := []string{"list", "get"}, []string{}
	for _, c := range []struct {
		what string
		call *call
	}{{"find", p.spec.find}, {"delete", p.spec.remove}, {"stop", p.spec.stop}, {"exec", p.spec.exec},
		{"files", p.spec.files}, {"logs", p.spec.logs}} {
		if c.call == nil {
			cannot = append(cannot, c.what)
			continue
		}
		can = append(can, c.what)
	}
	said := strings.Join(can, ", ")
	if len(cannot) > 0 {
		said += "; not described: " + strings.Join(cannot, ", ")
	}
	return reconcile.CheckResult{What: "api", OK: true, Said: said}
}

// words shows state words that nothing is mapped to: such sandboxes are never acted on.
func (p *Provider) words(page wire.Page) reconcile.CheckResult {
	var odd []string
	for _, s := range page.Sandboxes {
		if word := wire.Clip(s.Raw, 40); s.State == reconcile.SandboxUnknown && !slices.Contains(odd, word) {
			odd = append(odd, word)
		}
	}
	if len(odd) == 0 {
		return reconcile.CheckResult{What: "states", OK: true, Said: "all words are known"}
	}
	return reconcile.CheckResult{What: "states", OK: true, Said: fmt.Sprintf("unknown words: %q", odd[:min(5, len(odd))]),
		Fix: "map them in api.states, if you know what they mean"}
}

func (p *Provider) found(ctx context.Context, id string) reconcile.CheckResult {
	if _, err := p.Get(ctx, id); err != nil {
		out := fixes.Failed("get", err)
		switch {
		case errors.Is(err, reconcile.ErrNotFound):
			out.Fix = "correct api.get and api.absent: a sandbox that is listed counts as gone"
		case !errors.Is(err, reconcile.ErrUnauthorized) && !errors.Is(err, reconcile.ErrThrottled):
			out.Fix = "correct api.get: its path, its item, and sandbox.id"
		}
		return out
	}
	return reconcile.CheckResult{What: "get", OK: true, Said: "a listed sandbox is found by its id"}
}

// absent looks for an id that nobody has, made of one that somebody has.
func (p *Provider) absent(ctx context.Context, id string) reconcile.CheckResult {
	nobody := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0' + (r-'0'+7)%10
		}
		return r
	}, id)
	if nobody == id {
		nobody += "0"
	}
	_, err := p.Get(ctx, nobody)
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.CheckResult{What: "absent", OK: true, Said: "an id that nobody has is absent"}
	}
	out := reconcile.CheckResult{What: "absent", OK: true, Said: "an id that nobody has is found",
		Fix: "see that sandbox.id is the id that get takes"}
	if err != nil {
		out.Said, out.Fix = wire.Clip(err.Error(), 300), "let api.absent accept this answer, if it is certain"
	}
	return out
}

// elsewhere asks for an address that is none. If that counts as absent, a mistake in a path
// would make every sandbox gone.
func (p *Provider) elsewhere(ctx context.Context) reconcile.CheckResult {
	nowhere := p.client.At("sandkeeper-check", "none")
	_, _, err := p.hear(ctx, wire.Call{What: "get", Method: p.spec.get.method, URL: nowhere})
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.CheckResult{What: "wrong address", OK: true,
			Said: "what is answered there counts as a sandbox that is gone",
			Fix:  "let api.absent look at words that only stand in the answer to an id that nobody has"}
	}
	return reconcile.CheckResult{What: "wrong address", OK: true, Said: "is told from a sandbox that is gone"}
}
