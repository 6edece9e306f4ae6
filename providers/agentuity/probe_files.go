package agentuity

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// probeFiles lists the path. What fails is asked again, unless something else failed already.
func (p *Provider) probeFiles(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy,
	failed bool) sign {
	if policy.Path == "" {
		return sign{}
	}
	out := p.files(ctx, s, policy)
	if out.once && !failed && rest(ctx) {
		out = p.files(ctx, s, policy)
		out.once = false // twice is enough
	}
	out.Said = "files of " + policy.Path + ": " + out.Said
	return out
}

func (p *Provider) files(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) sign {
	c := call{region: s.Region, path: []string{"fs", "list", s.ID}, query: url.Values{"path": {policy.Path}},
		Call: wire.Call{What: "probe files", Method: http.MethodGet, Timeout: within(policy) + wire.Margin,
			Max: wire.MaxOne * 4, Inside: true}}
	a, err := p.send(ctx, &c, p.client.Once)
	switch {
	case err != nil:
		return sign{Half: wire.Silent(err, c.Timeout)}
	case !a.OK():
		return p.judged(a)
	}
	in, err := open[struct {
		Files []struct {
			Path string `json:"path"`
		} `json:"files"`
	}](p, a)
	var no *wire.Refusal
	switch {
	case errors.As(err, &no) && noFiles(no.Words):
		return sign{Half: wire.Half{Outcome: reconcile.CannotStart, Said: no.Words}, once: true}
	case err != nil:
		return sign{Half: wire.Unclear(wire.Clip(err.Error(), 160))}
	case in.Data.Files == nil:
		return sign{Half: wire.Unclear("200 with something that is no file list")}
	}
	return sign{Half: wire.Listed(len(in.Data.Files))}
}

// noFiles reports whether the words are of a file system that is not there. The path always
// exists.
func noFiles(words string) bool {
	words = strings.ToLower(words)
	return strings.Contains(words, "cow-merged") || strings.Contains(words, "no such file")
}
