package verceltest

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The vendor has three words. What expired is deleted.
var snapshotWords = map[reconcile.TemplateState]string{
	reconcile.TemplateActive:   "created",
	reconcile.TemplateInactive: "deleted",
	reconcile.TemplateFailed:   "failed",
}

// usedAt is when a snapshot was last of use: it expires that long after.
func usedAt(t simulated.Template) time.Time {
	if t.LastUsedAt.After(t.CreatedAt) {
		return t.LastUsedAt
	}
	return t.CreatedAt
}

func (s *Server) snapshotDTO(t simulated.Template) parts {
	dto := parts{
		"id": cmp.Or(t.Name, t.ID), "sourceSessionId": ID(0), "region": "iad1", "regions": []string{"iad1"},
		"status": cmp.Or(t.Raw, snapshotWords[t.State]), "sizeBytes": 1 << 20, "createdAt": millis(t.CreatedAt),
		"updatedAt": millis(usedAt(t)), "creationMethod": "manual",
	}
	dto.at("lastUsedAt", t.LastUsedAt)
	if !t.General {
		dto.at("expiresAt", usedAt(t).Add(simulated.UnusedFor))
	}
	return dto
}

func (s *Server) usable(id string) bool {
	t, err := s.world.TemplateOf(id)
	return err == nil && t.State == reconcile.TemplateActive
}

func (s *Server) getSnapshot(c *call) {
	t, err := s.world.TemplateOf(c.id)
	if err != nil {
		s.refuse(c.W, http.StatusNotFound, "not_found", "Snapshot '"+c.id+"' not found.")
		return
	}
	c.JSON(http.StatusOK, fields{"snapshot": s.snapshotDTO(t)})
}

func (s *Server) listSnapshots(c *call) {
	all := s.world.Templates()
	slices.SortFunc(all, func(a, b simulated.Template) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	items := []parts{}
	for _, t := range all {
		items = append(items, s.snapshotDTO(t))
	}
	c.JSON(http.StatusOK, fields{"snapshots": items, "pagination": fields{"count": len(items), "next": nil}})
}

func (s *Server) deleteSnapshot(c *call) {
	t, err := s.world.TemplateOf(c.id)
	if err != nil {
		s.refuse(c.W, http.StatusNotFound, "not_found", "Snapshot '"+c.id+"' not found.")
		return
	}
	s.world.RemoveTemplate(t.Name)
	dto := s.snapshotDTO(t)
	dto["status"] = "deleted"
	c.JSON(http.StatusOK, fields{"snapshot": dto})
}
