package verceltest

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// named answers with the record of the path, or that there is none.
func (s *Server) named(c *call) *record {
	r := s.record(c.id)
	if r == nil {
		s.refuse(c.W, http.StatusNotFound, "not_found", "Named sandbox '"+c.id+"' not found for this project.")
	}
	return r
}

// get shows a record. Only with resume=true it wakes one that is over, in a new session.
func (s *Server) get(c *call) {
	r := s.named(c)
	if r == nil {
		return
	}
	now := r.current()
	if c.R.URL.Query().Get("resume") != "true" || !over(now.status) {
		s.whole(c, c.id, false)
		return
	}
	if now.Ephemeral {
		s.refuse(c.W, http.StatusGone, "snapshot_not_found", "Sandbox has no snapshot to resume from")
		return
	}
	woken := simulated.Sandbox{ID: s.fresh("sbx"), Name: r.name, Labels: now.Labels, Region: now.Region, Disk: now.Disk}
	s.begin(c, woken, session{timeout: now.timeout, source: now.source, image: now.image, runtime: now.runtime}, true)
}

// begin makes a new session, and answers with its record.
func (s *Server) begin(c *call, b simulated.Sandbox, more session, resumed bool) {
	b.ExpiresAt = s.world.Now().Add(more.timeout)
	s.note(func(n *session) { *n = more }, b.ID)
	if _, err := s.world.Create(b); err != nil {
		s.forget(b.ID)
		s.failed(c, err)
		return
	}
	s.whole(c, b.Name, resumed)
}

func (s *Server) whole(c *call, name string, resumed bool) {
	r := s.record(name)
	if r == nil {
		s.refuse(c.W, http.StatusNotFound, "not_found", "Named sandbox '"+name+"' not found for this project.")
		return
	}
	c.JSON(http.StatusOK, fields{"sandbox": s.sandboxDTO(r), "session": s.sessionDTO(r.current()), "routes": []any{},
		"resumed": resumed})
}

// failed answers what the world says against a call. A sandbox under way answers 422, the
// declared status for it.
func (s *Server) failed(c *call, err error) {
	var no *simulated.Refused
	switch {
	case errors.Is(err, simulated.ErrGone):
		s.refuse(c.W, http.StatusNotFound, "not_found", "Session '"+c.id+"' not found.")
	case errors.Is(err, simulated.ErrBusy):
		s.refuse(c.W, http.StatusUnprocessableEntity, "sandbox_snapshotting", "Sandbox is currently being snapshotted")
	case errors.As(err, &no):
		s.bad(c, no.Words)
	default:
		s.refuse(c.W, http.StatusInternalServerError, "internal_server_error", err.Error())
	}
}

// runtimes are the vendor's own: those beside the templates of a world.
var runtimes = regexp.MustCompile(`^(node|python)[0-9.]+$`)

func (s *Server) create(c *call) {
	var in struct {
		Project    string `json:"projectId"`
		Name       string
		Tags       map[string]string
		Timeout    int64
		Persistent *bool
		Image      string
		Runtime    string
		Region     string
		Source     struct {
			Type, SnapshotID string
		}
	}
	switch err := json.Unmarshal(c.Body, &in); {
	case err != nil:
		s.bad(c, "Invalid request body")
		return
	case in.Project != s.o.Project:
		s.refuse(c.W, http.StatusNotFound, "not_found", "Project not found.")
		return
	case len(in.Tags) > 5:
		s.bad(c, "A sandbox can have at most 5 tags")
		return
	case in.Name != "" && s.record(in.Name) != nil:
		s.bad(c, "A sandbox named '"+in.Name+"' already exists")
		return
	}
	if _, err := s.world.TemplateOf(in.Runtime); in.Runtime != "" && err != nil && !runtimes.MatchString(in.Runtime) {
		s.bad(c, "Invalid request: `runtime` should be one of the supported runtimes")
		return
	}
	if in.Name == "" {
		in.Name = s.fresh("sandbox")
	}
	more := session{timeout: defaultTimeout, image: in.Image, runtime: in.Runtime, source: in.Source.SnapshotID}
	if in.Timeout > 0 {
		more.timeout = time.Duration(in.Timeout) * time.Millisecond
	}
	if more.source != "" && !s.usable(more.source) {
		s.refuse(c.W, http.StatusGone, "snapshot_not_found", "Snapshot not found: "+more.source)
		return
	}
	s.begin(c, simulated.Sandbox{ID: s.fresh("sbx"), Name: in.Name, Labels: in.Tags, Region: in.Region,
		Ephemeral: in.Persistent != nil && !*in.Persistent}, more, false)
}

// update replaces all tags.
func (s *Server) update(c *call) {
	r := s.named(c)
	if r == nil {
		return
	}
	var in struct {
		Tags       map[string]string
		Persistent *bool
		Timeout    int64
	}
	if json.Unmarshal(c.Body, &in) != nil || len(in.Tags) > 5 {
		s.bad(c, "Invalid request body")
		return
	}
	s.world.Change(r.current().ID, func(b *simulated.Sandbox) {
		if in.Tags != nil {
			b.Labels = in.Tags
		}
		if in.Persistent != nil {
			b.Ephemeral = !*in.Persistent
		}
	})
	if in.Timeout > 0 {
		s.note(func(n *session) { n.timeout = time.Duration(in.Timeout) * time.Millisecond }, r.current().ID)
	}
	c.JSON(http.StatusOK, fields{"sandbox": s.sandboxDTO(s.record(c.id)), "routes": []any{}})
}

// remove deletes a record: what runs of it ends first.
func (s *Server) remove(c *call) {
	r := s.named(c)
	if r == nil {
		return
	}
	if c.Fault.Effect == simulated.NotDone {
		c.JSON(http.StatusOK, fields{"sandbox": s.sandboxDTO(r)})
		return
	}
	if b := r.current(); !b.Gone {
		if _, err := s.world.Destroy(b.ID); err != nil {
			s.failed(c, err)
			return
		}
	}
	s.note(func(n *session) { n.deleted = true }, r.ids()...)
	now := r.current()
	now.status = "stopped"
	r.sessions[len(r.sessions)-1] = now
	c.JSON(http.StatusOK, fields{"sandbox": s.sandboxDTO(r)})
}
