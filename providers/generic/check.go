package generic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var fixes = wire.Fixes{
	Refused: "set token: to a credential that the platform takes, and see api.headers",
	URL:     "correct url: and the paths in api:",
	Answer:  "correct api.list and api.sandbox: docs/generic.md tells what each key reads",
}

// Check tests the description against the platform: a page of the list, one sandbox by its
// id, and what is answered of an id and of an address that nobody has.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	var lacks []string
	page, err := p.scopes(p.spec.calls["list"], vars{}, &lacks)[0].Read(ctx, "")
	if err != nil {
		return []reconcile.CheckResult{fixes.Failed("listing", err)}
	}
	again := func(context.Context, string) (wire.Page, error) { return page, nil }
	out := []reconcile.CheckResult{p.described(), p.base.CheckListing(ctx, again, fixes), words(page), p.born(page)}
	if len(lacks) > 0 {
		out = append(out, wire.Ill("listing lacks", fmt.Sprint(lacks), "nothing is known of these; see the platform"))
	}
	if len(page.Sandboxes) == 0 {
		return append(out, wire.Well("get", "not tested: no sandbox is there"))
	}
	return append(out, p.found(ctx, page.Sandboxes[0].ID), p.absent(ctx, page.Sandboxes[0].ID), p.elsewhere(ctx))
}

// described says what the description lets sandkeeper do, and what it does not do for want of it.
func (p *Provider) described() reconcile.CheckResult {
	can, cannot := []string{"list", "get"}, []string{}
	for _, c := range [...]struct{ what, without string }{
		{"find", "find (the whole list is searched)"},
		{"delete", "delete (it is read only)"},
		{"stop", "stop and resume (nothing is quarantined)"},
		{"exec", "exec (no command is probed)"},
		{"files", "files (no folder is probed)"},
		{"logs", "logs (none are saved)"},
	} {
		if p.spec.calls[c.what] == nil {
			cannot = append(cannot, c.without)
			continue
		}
		can = append(can, c.what)
	}
	said := strings.Join(can, ", ")
	if len(cannot) > 0 {
		said += "; not described: " + strings.Join(cannot, ", ")
	}
	return wire.Well("api", said)
}

// Lacks are the parts that change something, terminate and quarantine, for which an entry describes
// no call.
func Lacks(e entry.Entry) []string {
	var out []string
	if e.API == nil || e.API.Delete.Path == "" {
		out = append(out, "terminate")
	}
	if e.API == nil || e.API.Stop.Path == "" || e.API.Resume.Path == "" {
		out = append(out, "quarantine")
	}
	return out
}

// words shows state words that nothing is mapped to: such sandboxes are never acted on.
func words(page wire.Page) reconcile.CheckResult {
	var odd []string
	for _, s := range page.Sandboxes {
		if word := text.Clip(s.Raw, 40); s.State == reconcile.SandboxUnknown && !slices.Contains(odd, word) {
			odd = append(odd, word)
		}
	}
	if len(odd) > 0 {
		return wire.Odd("states", fmt.Sprintf("unknown words: %q", odd[:min(5, len(odd))]),
			"map them in api.states, if you know what they mean")
	}
	return wire.Well("states", "all words are known")
}

// born shows times of creation that cannot be read: such sandboxes are as old as they are known.
func (p *Provider) born(page wire.Page) reconcile.CheckResult {
	unread := 0
	for _, s := range page.Sandboxes {
		if s.CreatedAt.IsZero() {
			unread++
		}
	}
	if p.spec.fields.created == nil || unread == 0 {
		return wire.Well("created_at", "nothing that is described cannot be read")
	}
	return wire.Ill("created_at", fmt.Sprintf("cannot be read of %d of %d", unread, len(page.Sandboxes)),
		"correct api.sandbox.created_at: a time needs a zone, like 2026-11-01T12:00:00Z, or is a number since 1970")
}

func (p *Provider) found(ctx context.Context, id string) reconcile.CheckResult {
	_, err := p.Get(ctx, id)
	switch {
	case err == nil:
		return wire.Well("get", "a listed sandbox is found by its id")
	case errors.Is(err, reconcile.ErrNotFound):
		return wire.Ill("get", err.Error(), "correct api.get and api.absent: a sandbox that is listed counts as gone")
	case errors.Is(err, reconcile.ErrUnauthorized), errors.Is(err, reconcile.ErrThrottled):
		return fixes.Failed("get", err)
	}
	return wire.Ill("get", err.Error(), "correct api.get: its path, its item, and sandbox.id")
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
	line := wire.Well("absent", "an unknown id is absent")
	switch _, err := p.Get(ctx, nobody); {
	case err == nil:
		line.Said, line.Fix = "an unknown id is found", "see that sandbox.id is the id that get takes"
	case !errors.Is(err, reconcile.ErrNotFound):
		line.Said, line.Fix = text.Clip(err.Error(), 300), "let api.absent accept this answer, if it is certain"
	}
	return line
}

// elsewhere asks for an address that is none. If that counts as absent, a mistake in a path
// would make every sandbox gone.
func (p *Provider) elsewhere(ctx context.Context) reconcile.CheckResult {
	const what = "wrong address"
	nowhere := p.client.At("sandkeeper-check", "none")
	_, _, err := p.hear(ctx, wire.Call{What: "get", Method: p.spec.calls["get"].method, URL: nowhere})
	if errors.Is(err, reconcile.ErrNotFound) {
		return wire.Ill(what, "what is answered there counts as a sandbox that is gone",
			"let api.absent look at words that only the answer to an unknown id has")
	}
	return wire.Well(what, "is told from a sandbox that is gone")
}
