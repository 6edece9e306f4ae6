package daytonatest

import (
	"net/http"
	"slices"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *Server) key(q *request) {
	var expires any
	if !s.o.KeyExpires.IsZero() {
		expires = stamp(s.o.KeyExpires)
	}
	q.json(http.StatusOK, map[string]any{
		"name": "sandkeeper", "value": "dtn_********", "userId": "user-1", "createdAt": stamp(q.world.Now()),
		"lastUsedAt": nil, "expiresAt": expires, "permissions": slices.Clone(s.o.Permissions),
	})
}

func (s *Server) usage(q *request) {
	if q.id != Organization {
		q.fail(http.StatusForbidden, "Forbidden resource")
		return
	}
	used, limits := q.world.Account()
	q.json(http.StatusOK, map[string]any{
		"regionUsage": []map[string]any{{
			"regionId": "us", "sandboxClass": "container",
			"totalCpuQuota": limits.CPU, "currentCpuUsage": used.CPU,
			"totalMemoryQuota": limits.MemoryGiB, "currentMemoryUsage": used.MemoryGiB,
			"totalDiskQuota": limits.DiskGiB, "currentDiskUsage": used.DiskGiB,
			"totalGpuQuota": 0, "currentGpuUsage": 0,
		}},
		"totalSnapshotQuota": 100, "currentSnapshotUsage": len(q.world.Templates()),
		"totalVolumeQuota": 100, "currentVolumeUsage": 0,
	})
}
