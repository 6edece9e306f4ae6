package verceltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// there is the session of the path, or answers that there is none.
func (s *Server) there(c *call) (vm, bool) {
	v, ok := s.vm(c.id)
	if !ok {
		s.failed(c, simulated.ErrGone)
	}
	return v, ok
}

func (s *Server) session(c *call) {
	if v, ok := s.there(c); ok {
		c.JSON(http.StatusOK, fields{"session": s.sessionDTO(v), "routes": []any{}})
	}
}

// listSessions shows the sessions of all records or of one, newest first: it has no filter
// by status.
func (s *Server) listSessions(c *call) {
	v := c.R.URL.Query()
	limit, fits := limits(v)
	if !fits || !v.Has("project") {
		s.bad(c, "limit must be between 1 and 50")
		return
	}
	var all []vm
	for _, r := range s.records(c.Fault) {
		if !v.Has("name") || r.name == v.Get("name") {
			all = append(all, r.sessions...)
		}
	}
	if v.Get("sortOrder") != "asc" {
		slices.SortFunc(all, func(a, b vm) int { return b.CreatedAt.Compare(a.CreatedAt) })
	}
	at := place(v.Get("cursor"))
	from := min(int(at.Key), len(all))
	to := min(from+limit, len(all))
	items := []parts{}
	for _, v := range all[from:to] {
		items = append(items, s.sessionDTO(v))
	}
	var next any
	if to < len(all) {
		next = spot{Key: int64(to), Page: at.Page + 1}.cursor()
	}
	c.JSON(http.StatusOK, fields{"sessions": items, "pagination": fields{"count": len(items), "next": next}})
}

// stop ends a session. A second one answers well, too.
func (s *Server) stop(c *call) {
	v, ok := s.there(c)
	switch {
	case !ok:
		return
	case over(v.status), c.Fault.Effect == simulated.NotDone:
	case v.status == "snapshotting":
		s.failed(c, simulated.ErrBusy)
		return
	default:
		if _, err := s.world.Destroy(c.id); err != nil {
			s.failed(c, err)
			return
		}
	}
	out := fields{}
	if v, ok = s.vm(c.id); ok {
		out["session"] = s.sessionDTO(v)
	}
	if r := s.record(v.FormerName()); r != nil {
		out["sandbox"] = s.sandboxDTO(r)
	}
	c.JSON(http.StatusOK, out)
}

// resting answers for what cannot be called now, and reports whether it did. 410 means that
// the session is over, 422 that it is on the way to be.
func (s *Server) resting(c *call, v vm) bool {
	switch v.status {
	case "stopped", "failed", "aborted":
		s.refuse(c.W, http.StatusGone, "sandbox_stopped",
			"Sandbox has stopped execution and is no longer available")
	case "stopping":
		s.refuse(c.W, http.StatusUnprocessableEntity, "sandbox_stopping", "Sandbox is stopping")
	case "snapshotting":
		s.refuse(c.W, http.StatusUnprocessableEntity, "sandbox_snapshotting", "Sandbox is currently being snapshotted")
	case "running":
		return false
	default: // the vendor's words were not seen
		s.refuse(c.W, http.StatusUnprocessableEntity, "sandbox_not_running", "Sandbox is "+v.status)
	}
	return true
}

// running is the session of the path, or answers why it cannot be called.
func (s *Server) running(c *call) (vm, bool) {
	v, ok := s.there(c)
	if !ok || s.resting(c, v) {
		return v, false
	}
	return v, true
}

func (s *Server) extend(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	var in struct{ Duration int64 }
	if json.Unmarshal(c.Body, &in) != nil || in.Duration < 1000 {
		s.bad(c, "duration must be at least 1000")
		return
	}
	more := time.Duration(in.Duration) * time.Millisecond
	ends := v.expires(s.world.Now()).Add(more)
	s.world.Change(c.id, func(b *simulated.Sandbox) { b.ExpiresAt = ends })
	s.note(func(n *session) { n.timeout += more }, c.id)
	v, _ = s.vm(c.id)
	c.JSON(http.StatusOK, fields{"session": s.sessionDTO(v)})
}

// snapshot keeps a session's disk, and stops it.
func (s *Server) snapshot(c *call) {
	if _, ok := s.running(c); !ok {
		return
	}
	var in struct{ Expiration int64 }
	_ = json.Unmarshal(c.Body, &in) // an empty body is well
	if in.Expiration != 0 && in.Expiration < 86_400_000 {
		s.bad(c, "expiration must be 0 or at least 86400000")
		return
	}
	id := s.fresh("snap")
	t := s.world.PutTemplate(simulated.Template{ID: id, Name: id, State: reconcile.TemplateActive})
	if _, err := s.world.Destroy(c.id); err != nil {
		s.failed(c, err)
		return
	}
	s.note(func(n *session) { n.taken, n.source = s.world.Now(), id }, c.id)
	v, _ := s.vm(c.id)
	c.JSON(http.StatusCreated, fields{"snapshot": s.snapshotDTO(t), "session": s.sessionDTO(v)})
}
