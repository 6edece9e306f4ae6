package app

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// pushed takes what providers push, by the config in force.
type pushed struct{ now func() *App }

// Read reads a push with the secret of its entry.
func (p pushed) Read(provider string, header http.Header, body []byte) (serve.Push, error) {
	entries := p.now().Config.Entries()
	at := slices.IndexFunc(entries, func(e providers.Entry) bool { return e.Name == provider && providers.TakesPushes(e) })
	if at < 0 {
		return serve.Push{}, reconcile.ErrNotFound
	}
	got, err := providers.ReadPush(entries[at], header, body)
	switch {
	case errors.Is(err, providers.ErrUnreadable):
		return serve.Push{}, serve.ErrUnreadable
	case err != nil:
		return serve.Push{}, serve.ErrForged
	}
	return serve.Push{ID: got.ID, At: got.At, Sandbox: got.Sandbox}, nil
}

// Look has the next pass of whichever process look at a sandbox, at once.
func (p pushed) Look(ctx context.Context, provider, sandbox string) error {
	_, err := queue.AskPushed(ctx, p.now().Pool, reconcile.Ref{Provider: provider, ID: sandbox})
	return err
}

// Counted counts what became of a push.
func (p pushed) Counted(provider, outcome string) { p.now().Local.Push(provider, outcome) }
