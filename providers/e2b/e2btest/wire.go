package e2btest

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// clientID is the same for all sandboxes, and only there for old clients.
const clientID = "6532622b"

// runs is for how long a sandbox runs of which the world does not say it.
const runs = time.Hour

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// words are the vendor's two words for states.
var words = map[reconcile.SandboxState]string{
	reconcile.SandboxRunning:   "running",
	reconcile.SandboxSuspended: "paused",
}

func raw(b simulated.Sandbox) string {
	if b.Raw != "" {
		return b.Raw
	}
	return words[b.State]
}

// token is the access token of a sandbox's daemon.
func token(id string) string {
	sum := sha256.Sum256([]byte("envd " + id))
	return hex.EncodeToString(sum[:])
}

// item is a sandbox as a listing shows it.
func (s *Server) item(b simulated.Sandbox) map[string]any {
	dto := map[string]any{
		"sandboxID": b.ID, "clientID": clientID, "templateID": b.Template, "envdVersion": s.o.Envd,
		"startedAt": stamp(b.CreatedAt), "endAt": stamp(s.end(b)), "state": raw(b),
		"cpuCount": 2, "memoryMB": 512, "diskSizeMB": 1024,
	}
	if t, err := s.world.TemplateOf(b.Template); err == nil {
		dto["templateID"], dto["alias"] = t.ID, t.Name
	}
	if b.Labels != nil {
		dto["metadata"] = b.Labels
	}
	return dto
}

// end is when a running sandbox ends; of a paused one, when it was paused.
func (s *Server) end(b simulated.Sandbox) time.Time {
	l := s.life(b.ID)
	switch {
	case b.State == reconcile.SandboxSuspended:
		return b.UpdatedAt
	case !l.end.IsZero():
		return l.end
	case b.ExpiresAt.IsZero():
		return s.world.Now().Add(runs)
	}
	return b.ExpiresAt
}

// detail is a sandbox as a get shows it: also to those who did not make it, with the token
// of its daemon.
func (s *Server) detail(b simulated.Sandbox) map[string]any {
	l, onTimeout := s.life(b.ID), "kill"
	if l.Pauses {
		onTimeout = "pause"
	}
	dto := s.item(b)
	dto["envdAccessToken"], dto["domain"], dto["allowInternetAccess"] = token(b.ID), nil, nil
	dto["lifecycle"] = map[string]any{"autoResume": l.AutoResume, "onTimeout": onTimeout}
	return dto
}

// brief is a sandbox as a create and a connect show it.
func (s *Server) brief(b simulated.Sandbox) map[string]any {
	whole := s.item(b)
	dto := map[string]any{"envdAccessToken": token(b.ID), "trafficAccessToken": nil, "domain": nil}
	for _, field := range []string{"sandboxID", "clientID", "templateID", "alias", "envdVersion"} {
		if value, ok := whole[field]; ok {
			dto[field] = value
		}
	}
	return dto
}
