package agentuitytest

import (
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// words are the vendor's words for the states. One that runs is idle while nothing is
// executed in it.
var words = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "creating",
	reconcile.SandboxRunning:   "idle",
	reconcile.SandboxSuspended: "paused",
	reconcile.SandboxStopped:   "suspended",
	reconcile.SandboxFailed:    "failed",
	reconcile.SandboxDeleting:  "stopping",
	reconcile.SandboxEnded:     "terminated",
}

func word(b simulated.Sandbox) string {
	switch {
	case b.Gone:
		return "terminated"
	case b.Doomed:
		return "stopping"
	case b.Raw == "starting": // the world's word for one that comes back
		return "creating"
	case b.Raw != "":
		return b.Raw
	case b.State == reconcile.SandboxRunning && b.Running > 0:
		return "running"
	}
	return words[b.State]
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// projectLabel is where a sandbox of the world keeps its project; the other labels are its
// metadata.
const projectLabel = "project"

// item is a sandbox as a listing shows it: without project and metadata, and with one
// timestamp only.
func (s *Server) item(q *request, b simulated.Sandbox) map[string]any {
	dto := map[string]any{
		"sandboxId": b.ID, "identifier": b.ID[max(0, len(b.ID)-8):], "status": word(b), "mode": "interactive",
		"createdAt": stamp(b.CreatedAt), "region": s.home(b), "executions": s.count(b.ID) + len(b.Queued) + b.Running,
		"runtime":        map[string]any{"id": "run_1", "name": "bun:1"},
		"org":            map[string]any{"id": s.o.Org, "name": "Lab"},
		"timeout":        map[string]any{"idle": "10m", "execution": "5m", "paused": "24h"},
		"networkEnabled": false, "stdoutStreamUrl": s.streamOf(q.R, b.ID, "stdout"),
		"auditStreamId": "stream_" + b.ID,
	}
	if name := b.FormerName(); name != "" && name != b.ID {
		dto["name"] = name
	}
	if b.Template != "" {
		dto["snapshot"] = map[string]any{"id": snapshotID(b.Template), "name": b.Template, "tag": "latest", "public": false,
			"user": map[string]any{"id": "user_1"}}
	}
	return dto
}

// whole is a sandbox as a get shows it.
func (s *Server) whole(q *request, b simulated.Sandbox) map[string]any {
	dto := s.item(q, b)
	metadata := map[string]any{}
	for key, value := range b.Labels {
		if key != projectLabel {
			metadata[key] = value
		}
	}
	dto["metadata"] = metadata
	dto["resources"] = map[string]any{"memory": "1Gi", "cpu": "1000m", "disk": "3Gi"}
	dto["user"] = map[string]any{"id": "user_1"}
	if project := b.Labels[projectLabel]; project != "" {
		dto["project"] = map[string]any{"id": project, "name": project}
	}
	if b.Gone {
		dto["cpuTimeMs"], dto["memoryByteSec"], dto["networkEgressBytes"] = 1200, 1<<30, 0
	}
	return dto
}

// streamOf is the public address of what a sandbox or an execution printed.
func (s *Server) streamOf(r *http.Request, id, which string) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + "/stream/" + id + "/" + which
}
