package verceltest

import (
	"cmp"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const home = "/vercel/sandbox"

func millis(t time.Time) int64 { return t.UnixMilli() }

// parts are the fields of an object, some of which may be missing.
type parts map[string]any

// at sets a time that may be missing.
func (f parts) at(key string, t time.Time) {
	if !t.IsZero() {
		f[key] = millis(t)
	}
}

// text sets a text that may be missing.
func (f parts) text(key, value string) {
	if value != "" {
		f[key] = value
	}
}

// sandboxDTO is a record as lists and gets show it.
func (s *Server) sandboxDTO(r *record) parts {
	v := r.current()
	dto := parts{
		"name": r.name, "persistent": !v.Ephemeral, "region": region(v.Sandbox), "vcpus": 2, "memory": 4096,
		"timeout": v.timeout.Milliseconds(), "createdAt": millis(r.created()), "updatedAt": millis(v.UpdatedAt),
		"currentSessionId": v.ID, "status": v.status, "statusUpdatedAt": millis(v.began()), "cwd": home,
		"totalEgressBytes": 0, "totalIngressBytes": 0, "totalActiveCpuDurationMs": 0, "totalDurationMs": 0,
	}
	if v.Labels != nil {
		dto["tags"] = v.Labels
	}
	if v.status == "running" {
		dto.at("expiresAt", v.expires(s.world.Now()))
	}
	dto.text("currentSnapshotId", v.source)
	if v.source == "" {
		dto.text("image", cmp.Or(v.image, v.Template))
	}
	dto.text("runtime", v.runtime)
	return dto
}

// sessionDTO is a session. It shows no tags.
func (s *Server) sessionDTO(v vm) parts {
	dto := parts{
		"id": v.ID, "memory": 4096, "vcpus": 2, "region": region(v.Sandbox), "timeout": v.timeout.Milliseconds(),
		"status": v.status, "requestedAt": millis(v.CreatedAt), "createdAt": millis(v.CreatedAt), "cwd": home,
		"updatedAt": millis(v.UpdatedAt), "projectId": s.o.Project,
		"sourceSandboxName": v.FormerName(),
	}
	if v.status != "pending" {
		dto.at("startedAt", v.CreatedAt)
	}
	switch v.status {
	case "stopping":
		dto.at("requestedStopAt", v.UpdatedAt)
	case "aborted":
		dto.at("abortedAt", v.EndedAt)
	case "stopped", "failed":
		if v.EndedFor == "request" {
			dto.at("requestedStopAt", v.EndedAt)
		}
		dto.at("stoppedAt", v.EndedAt)
		dto["duration"] = v.UpdatedAt.Sub(v.CreatedAt).Milliseconds()
		dto["activeCpuDurationMs"] = 0
		dto["networkTransfer"] = fields{"ingress": 0, "egress": 0}
	}
	dto.at("snapshottedAt", v.taken)
	dto.text("sourceSnapshotId", v.source)
	dto.text("runtime", v.runtime)
	return dto
}

func region(b simulated.Sandbox) string {
	if b.Region == "" {
		return "iad1"
	}
	return b.Region
}
