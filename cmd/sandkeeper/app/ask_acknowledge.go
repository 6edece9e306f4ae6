package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// Acknowledge says that somebody looks after an open incident: so that nobody else begins, and nothing is let go.
func (a Operator) Acknowledge(ctx context.Context, target string, by *Request) (string, error) {
	id, _ := reconcile.OfType(reconcile.SubjectIncident, target)
	incident, err := a.Ledger.Incident(ctx, id)
	if errors.Is(err, reconcile.ErrNotFound) {
		return "", &api.Refusal{Status: http.StatusNotFound,
			Why: fmt.Sprintf("incident %s: not on record; `sandkeeper incidents` lists them", text.Clip(id, 60))}
	}
	if err != nil {
		return "", err
	}
	if !incident.ClosedAt.IsZero() {
		return "", conflict("incident %s is closed: nobody has to look after it", id)
	}
	s := by.Signed()
	if err := a.Ledger.AcknowledgeIncident(ctx, id, s); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s looks after incident %s; it holds what it held", s.Author, id), nil
}
