package serve

import (
	"context"
	"net/http"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// The paths of the sandbox runbook, with the runbook's JSON: habits and scripts go on to work.

// books answer by these paths.
type books struct {
	Records   Records
	documents *documents
}

func (s *books) stats(ctx context.Context, _ *http.Request) (api.Stats, error) {
	counts, err := s.Records.SandboxTotals(ctx)
	out := api.Stats{
		Active: counts[string(reconcile.SandboxRunning)], Provisioning: counts[string(reconcile.SandboxCreating)],
		Terminating: counts[string(reconcile.SandboxDeleting)], TotalDestroyed: counts[reconcile.ChosenGone],
	}
	for _, n := range counts {
		out.TotalCreated += n
	}
	return out, err
}

func (s *books) list(ctx context.Context, r *http.Request) (api.List[api.Listed], error) {
	now, err := s.documents.overview(ctx)
	if err != nil {
		return api.List[api.Listed]{}, err
	}
	return chose(s.documents, Records.Sandboxes, func(b *reconcile.SandboxSeen) api.Listed {
		return api.ListedOf(b, now.Overview.Now)
	}, nil)(ctx, r)
}

func (s *books) sandbox(ctx context.Context, r *http.Request) (api.Listed, error) {
	now, err := s.documents.overview(ctx)
	if err != nil {
		return api.Listed{}, err
	}
	_, box, err := s.of(ctx, r)
	return api.ListedOf(&box, now.Overview.Now), err
}

func (s *books) logs(ctx context.Context, r *http.Request) (api.Logs, error) {
	h, box, err := s.of(ctx, r)
	var own []reconcile.Action
	for _, a := range h.Actions {
		if a.Provider == box.Provider && a.Sandbox == box.ID {
			own = append(own, a)
		}
	}
	return api.LogsOf(box.ID, own), err
}

func (s *books) resources(ctx context.Context, r *http.Request) (api.Resources, error) {
	h, box, err := s.of(ctx, r)
	var own []reconcile.ProbeResult
	for _, p := range h.Probes {
		if p.Ref == box.Ref {
			own = append(own, p)
		}
	}
	return api.ResourcesOf(box.ID, own), err
}

// bookOf is the sandbox that the path names, by id, name or provider/id, with all that is known of it.
func (s *books) of(ctx context.Context, r *http.Request) (reconcile.History, reconcile.SandboxSeen, error) {
	id := r.PathValue("id")
	h, err := s.Records.Subject(ctx, id)
	if err != nil {
		return h, reconcile.SandboxSeen{}, err
	}
	for _, b := range h.Sandboxes {
		if b.ID == id || b.Ref.String() == id || b.Name == id {
			return h, b, nil
		}
	}
	return h, reconcile.SandboxSeen{}, reconcile.ErrNotFound
}
