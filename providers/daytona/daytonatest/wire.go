package daytonatest

import (
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// words are the vendor's usual words for the states.
var words = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "creating",
	reconcile.SandboxRunning:   "started",
	reconcile.SandboxSuspended: "paused",
	reconcile.SandboxStopped:   "stopped",
	reconcile.SandboxFailed:    "error",
	reconcile.SandboxDeleting:  "destroying",
	reconcile.SandboxEnded:     "destroyed",
}

var desired = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "started",
	reconcile.SandboxRunning:   "started",
	reconcile.SandboxSuspended: "paused",
	reconcile.SandboxStopped:   "stopped",
	reconcile.SandboxFailed:    "started",
	reconcile.SandboxDeleting:  "destroyed",
	reconcile.SandboxEnded:     "destroyed",
}

func raw(b simulated.Sandbox) string {
	if b.Raw != "" {
		return b.Raw
	}
	return words[b.State]
}

// item is a sandbox as a listing shows it: with its raw state.
func (s *Server) item(q *request, b simulated.Sandbox) map[string]any {
	labels := b.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	dto := map[string]any{
		"id": b.ID, "organizationId": Organization, "name": b.Name, "user": "daytona", "target": region(b),
		"labels": labels, "public": false, "networkBlockAll": false, "cpu": 1, "gpu": 0, "memory": 1, "disk": 3,
		"state": raw(b), "desiredState": desired[b.State], "recoverable": false, "backupState": "None",
		"autoStopInterval": 15, "autoArchiveInterval": 10080, "autoDeleteInterval": -1,
		"createdAt": stamp(b.CreatedAt), "updatedAt": stamp(b.UpdatedAt), "lastActivityAt": stamp(b.LastActivityAt),
		"sandboxClass": "container", "daemonVersion": "0.205.1", "runnerId": "runner-1",
	}
	s.fillItem(q, b, dto)
	return dto
}

func (s *Server) fillItem(q *request, b simulated.Sandbox, dto map[string]any) {
	if b.Doomed {
		dto["desiredState"] = "destroyed"
	}
	if b.Ephemeral {
		dto["autoDeleteInterval"] = 0
	}
	if b.Template != "" {
		dto["snapshot"] = b.Template
	}
	if b.Error != "" {
		dto["errorReason"] = b.Error
	}
	if !b.ExpiresAt.IsZero() {
		dto["autoDestroyAt"] = stamp(b.ExpiresAt)
	}
	if !s.o.NoToolbox {
		dto["toolboxProxyUrl"] = s.toolbox(q)
	}
}

// whole is a sandbox as a get shows it: the state follows what is desired.
func (s *Server) whole(q *request, b simulated.Sandbox) map[string]any {
	dto := s.item(q, b)
	if b.Doomed && (dto["state"] == "started" || dto["state"] == "stopped") {
		dto["state"] = "destroying"
	}
	dto["env"], dto["volumes"] = map[string]string{}, []any{}
	return dto
}

func (s *Server) toolbox(q *request) string {
	if s.o.Address != "" {
		return s.o.Address + "/toolbox"
	}
	scheme := "http"
	if q.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + q.Host + "/toolbox"
}

func region(b simulated.Sandbox) string {
	if b.Region == "" {
		return "us"
	}
	return b.Region
}
