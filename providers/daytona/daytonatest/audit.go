package daytonatest

import (
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// audit is the organization's audit log, newest first: who asked for the end of a sandbox, as far as the world knows it.
// It is read by a permission of its own.
func (s *Server) audit(q *request) {
	switch {
	case q.id != Organization, !slices.Contains(s.o.Permissions, "read:audit_logs"):
		q.fail(http.StatusForbidden, "Forbidden resource")
		return
	}
	v := q.URL.Query()
	items := []map[string]any{}
	for _, id := range v["targetId[in]"] {
		b, err := s.world.Died(id)
		action := actionOf(b)
		if err == nil && (!v.Has("action[in]") || slices.Contains(v["action[in]"], action)) {
			items = append(items, entryOf(b, action))
		}
	}
	q.json(http.StatusOK, map[string]any{"items": items, "total": len(items), "page": 1, "totalPages": 1})
}

func entryOf(b simulated.Sandbox, action string) map[string]any {
	return map[string]any{"id": "audit-" + b.ID, "actorId": "user-1", "actorEmail": b.EndedBy,
		"organizationId": Organization, "action": action, "targetType": "sandbox", "targetId": b.ID, "statusCode": 200,
		"createdAt": stamp(b.EndedAt), "source": "api"}
}

// actionOf is the vendor's word for why a sandbox ended.
func actionOf(b simulated.Sandbox) string {
	stopped := b.State == reconcile.SandboxStopped
	switch {
	case b.EndedFor == "request" && stopped:
		return "stop"
	case b.EndedFor == "request":
		return "delete"
	case stopped:
		return "auto_stop"
	}
	return "auto_delete"
}
