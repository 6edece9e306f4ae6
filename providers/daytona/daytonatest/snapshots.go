package daytonatest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var templateWords = map[reconcile.TemplateState]string{
	reconcile.TemplateActive:   "active",
	reconcile.TemplateInactive: "inactive",
	reconcile.TemplateBuilding: "building",
	reconcile.TemplateFailed:   "error",
}

func snapshotDTO(t simulated.Template) map[string]any {
	state := t.Raw
	if state == "" {
		state = templateWords[t.State]
	}
	dto := map[string]any{
		"id": t.ID, "name": t.Name, "general": t.General, "state": state, "size": 1.5, "entrypoint": nil,
		"cpu": 1, "gpu": 0, "mem": 1, "disk": 3, "errorReason": nil, "organizationId": Organization,
		"createdAt": stamp(t.CreatedAt), "updatedAt": stamp(t.CreatedAt), "lastUsedAt": nil, "sourceSandboxId": nil,
	}
	if t.Error != "" {
		dto["errorReason"] = t.Error
	}
	if !t.LastUsedAt.IsZero() {
		dto["lastUsedAt"] = stamp(t.LastUsedAt)
	}
	return dto
}

func (s *Server) snapshots(q *request) {
	items := []map[string]any{}
	for _, t := range q.world.Templates() {
		if strings.Contains(t.Name, q.URL.Query().Get("name")) {
			items = append(items, snapshotDTO(t))
		}
	}
	q.json(http.StatusOK, map[string]any{"items": items, "total": len(items), "page": 1, "totalPages": 1})
}

func (s *Server) snapshot(q *request) {
	t, err := q.world.TemplateOf(q.id)
	if err != nil {
		q.failed(err, "Snapshot")
		return
	}
	q.json(http.StatusOK, snapshotDTO(t))
}

// activate takes an id only, unlike get.
func (s *Server) activate(q *request) {
	t, err := q.world.TemplateOf(q.id)
	if err == nil && t.ID != q.id {
		err = fmt.Errorf("%w: activate takes an id", simulated.ErrGone)
	}
	if err == nil && q.fault.Effect != simulated.NotDone {
		t, err = q.world.ActivateTemplate(q.id)
	}
	if err != nil {
		q.failed(err, "Snapshot")
		return
	}
	q.json(http.StatusOK, snapshotDTO(t))
}
