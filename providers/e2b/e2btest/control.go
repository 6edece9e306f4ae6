package e2btest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// longest is for how long a sandbox may run at once.
const longest = 24 * time.Hour

// A newSandbox is what a create asks for.
type newSandbox struct {
	Template   string            `json:"templateID"`
	Metadata   map[string]string `json:"metadata"`
	Timeout    *int              `json:"timeout"`
	AutoPause  bool              `json:"autoPause"`
	AutoResume struct {
		Enabled bool `json:"enabled"`
	} `json:"autoResume"`
}

// create answers when the sandbox runs.
func (s controls) create(q *request) {
	var in newSandbox
	if json.Unmarshal(q.body, &in) != nil || in.Template == "" {
		q.fail(http.StatusBadRequest, "request body has an error: property \"templateID\" is missing")
		return
	}
	lasts := 15 * time.Second // of the first version
	if strings.HasPrefix(q.URL.Path, "/v2/") {
		lasts = 5 * time.Minute
	}
	if in.Timeout != nil {
		lasts = time.Duration(*in.Timeout) * time.Second
	}
	t, err := s.world.TemplateOf(strings.Split(in.Template, ":")[0])
	switch {
	case err != nil:
		q.fail(http.StatusNotFound, fmt.Sprintf("template '%s' not found", in.Template))
		return
	case lasts > longest:
		q.fail(http.StatusBadRequest, "Timeout cannot be greater than 24 hours")
		return
	}
	end := q.world.Now().Add(lasts)
	want := simulated.Sandbox{Template: t.Name, Labels: in.Metadata}
	if !in.AutoPause {
		want.ExpiresAt = end
	}
	b, err := q.world.Create(want)
	if err != nil {
		q.fail(http.StatusTooManyRequests, "you have reached the maximum number of concurrent E2B sandboxes (20). "+
			"If you need more, please contact us at 'https://e2b.dev/docs/support'")
		return
	}
	s.Live(b.ID, Lifecycle{in.AutoPause, in.AutoResume.Enabled}, pausesAt(in.AutoPause, end))
	s.note(b.ID, "created")
	q.json(http.StatusCreated, s.brief(b))
}

func pausesAt(pauses bool, end time.Time) time.Time {
	if !pauses {
		return time.Time{}
	}
	return end
}

func (s controls) get(q *request) {
	b, err := s.look(q.id)
	if err != nil {
		q.failed(err)
		return
	}
	q.json(http.StatusOK, s.detail(b))
}

// kill ends what runs, and deletes what is paused. It answers when that is done.
func (s controls) kill(q *request) {
	_, err := s.look(q.id)
	if err == nil && q.fault.Effect != simulated.NotDone {
		_, err = q.world.Destroy(q.id)
	}
	switch {
	case errors.Is(err, simulated.ErrGone):
		q.failed(err)
	case err != nil:
		q.fail(http.StatusInternalServerError, "Error killing sandbox: "+err.Error())
	default:
		s.note(q.id, "killed")
		q.w.WriteHeader(http.StatusNoContent)
	}
}

func (s controls) pause(q *request) {
	_, err := s.look(q.id)
	if err == nil && q.fault.Effect != simulated.NotDone {
		if _, err = q.world.Pause(q.id); err == nil { // nothing ends what is paused
			q.world.Change(q.id, func(b *simulated.Sandbox) { b.ExpiresAt = time.Time{} })
			s.note(q.id, "paused")
		}
	}
	if err != nil {
		q.failed(err)
		return
	}
	q.w.WriteHeader(http.StatusNoContent)
}

// connect resumes what is paused, and lets what runs run on.
func (s controls) connect(q *request) {
	var in struct {
		Timeout int `json:"timeout"`
	}
	_ = json.Unmarshal(q.body, &in) // the second version needs no body
	if in.Timeout == 0 {
		in.Timeout = 300
	}
	b, err := s.look(q.id)
	if err != nil {
		q.failed(err)
		return
	}
	end := q.world.Now().Add(time.Duration(in.Timeout) * time.Second)
	status := http.StatusOK
	if b.State == reconcile.SandboxSuspended && q.fault.Effect != simulated.NotDone {
		status = http.StatusCreated
		if err := s.wake(q.id); err != nil {
			q.failed(err)
			return
		}
	}
	if s.end(b).Before(end) || status == http.StatusCreated {
		s.setEnd(q.id, end)
	}
	b, _ = s.look(q.id)
	q.json(status, s.brief(b))
}

// wake resumes a sandbox. Its time of the start is a new one, as if it had been made now.
func (s controls) wake(id string) error {
	b, err := s.world.Start(id)
	if err != nil {
		return err
	}
	b, _ = s.world.Sandbox(id)
	b.CreatedAt = s.world.Now()
	s.world.Put(b)
	s.note(id, "resumed")
	return nil
}

func (s controls) setEnd(id string, end time.Time) {
	if l := s.life(id); l.Pauses {
		s.Live(id, l.Lifecycle, end)
		return
	}
	s.world.Change(id, func(b *simulated.Sandbox) { b.ExpiresAt = end })
}

// timeout sets the end again, sooner or later.
func (s controls) timeout(q *request) {
	var in struct {
		Timeout int `json:"timeout"`
	}
	_ = json.Unmarshal(q.body, &in)
	s.until(q, in.Timeout, false)
}

// refresh only puts the end off.
func (s controls) refresh(q *request) {
	var in struct {
		Duration int `json:"duration"`
	}
	_ = json.Unmarshal(q.body, &in)
	s.until(q, in.Duration, true)
}

func (s controls) until(q *request, seconds int, later bool) {
	b, err := s.look(q.id)
	end := q.world.Now().Add(time.Duration(seconds) * time.Second)
	switch {
	case err != nil:
		q.failed(err)
		return
	case b.State != reconcile.SandboxRunning || b.Busy():
		q.fail(http.StatusConflict, fmt.Sprintf("Sandbox %q is in a transitional state", q.id))
		return
	case end.Sub(b.CreatedAt) > longest:
		q.fail(http.StatusBadRequest, "Max instance length exceeded")
		return
	case !later || s.end(b).Before(end):
		s.setEnd(q.id, end)
	}
	s.note(q.id, "updated")
	q.w.WriteHeader(http.StatusNoContent)
}

// controls are what the control plane answers of one sandbox.
type controls struct{ *Server }

func (s *Server) controls() controls { return controls{s} }
