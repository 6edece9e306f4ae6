package dockertest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A turn is a change of state that an engine makes at once.
type turn struct {
	from    []reconcile.SandboxState
	to      reconcile.SandboxState
	already reconcile.SandboxState // answers 304; "" for none
	status  int                    // of an engine that cannot; Podman's is always 500
	words   string                 // after "Container <id> "
}

func (s *Server) start(x wiretest.Exchange) {
	s.turn(x, turn{from: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxStopped},
		to: reconcile.SandboxRunning, already: reconcile.SandboxRunning, status: http.StatusConflict,
		words: "cannot be started in its state"})
}

func (s *Server) stop(x wiretest.Exchange) {
	s.turn(x, turn{from: []reconcile.SandboxState{reconcile.SandboxRunning, reconcile.SandboxSuspended},
		to: reconcile.SandboxStopped, already: reconcile.SandboxStopped, status: http.StatusConflict,
		words: "is not running"})
}

func (s *Server) kill(x wiretest.Exchange) {
	s.turn(x, turn{from: []reconcile.SandboxState{reconcile.SandboxRunning, reconcile.SandboxSuspended},
		to: reconcile.SandboxStopped, status: http.StatusConflict, words: "is not running"})
}

func (s *Server) pause(x wiretest.Exchange) {
	s.turn(x, turn{from: []reconcile.SandboxState{reconcile.SandboxRunning}, to: reconcile.SandboxSuspended,
		status: http.StatusConflict, words: "is not running"})
}

// unpause of what is not paused is an error of the engine's own.
func (s *Server) unpause(x wiretest.Exchange) {
	s.turn(x, turn{from: []reconcile.SandboxState{reconcile.SandboxSuspended}, to: reconcile.SandboxRunning,
		status: http.StatusInternalServerError, words: "is not paused"})
}

func (s *Server) turn(x wiretest.Exchange, t turn) {
	b, err := s.find(x.R.PathValue("id"))
	switch {
	case err != nil:
		s.failed(x, err)
	case b.Locked:
		s.failed(x, simulated.ErrBusy)
	case t.already != "" && b.State == t.already:
		x.W.WriteHeader(http.StatusNotModified)
	case !t.starts(b):
		s.cannot(x, b, t)
	default:
		if x.Fault.Effect != simulated.NotDone {
			s.world.Change(b.ID, func(b *simulated.Sandbox) {
				b.State, b.Raw, b.UpdatedAt, b.EndedAt, b.EndedFor = t.to, "", s.world.Now(), time.Time{}, ""
				if t.to == reconcile.SandboxStopped {
					b.EndedAt, b.EndedFor = s.world.Now(), "request"
				}
			})
		}
		x.W.WriteHeader(http.StatusNoContent)
	}
}

func (t turn) starts(b simulated.Sandbox) bool {
	for _, from := range t.from {
		if b.State == from {
			return true
		}
	}
	return false
}

func (s *Server) cannot(x wiretest.Exchange, b simulated.Sandbox, t turn) {
	if s.o.Podman {
		s.fail(x.W, x.R, http.StatusInternalServerError, strconv.Quote(b.ID)+" "+t.words+": container state improper")
		return
	}
	s.fail(x.W, x.R, t.status, "Container "+b.ID+" "+t.words)
}

// remove removes at once what does not run, and what does with force.
func (s *Server) remove(x wiretest.Exchange) {
	b, err := s.find(x.R.PathValue("id"))
	force, _ := strconv.ParseBool(x.R.URL.Query().Get("force"))
	runs := b.State == reconcile.SandboxRunning || b.State == reconcile.SandboxSuspended
	switch {
	case err != nil:
		s.failed(x, err)
	case raw(b) == "removing":
		s.failed(x, simulated.ErrBusy)
	case s.hangs(b.ID):
		x.Silence()
	case runs && !force && s.o.Podman:
		s.fail(x.W, x.R, http.StatusInternalServerError, "cannot remove container "+b.ID+" as it is running - running or "+
			"paused containers cannot be removed without force: container state improper")
	case runs && !force:
		s.fail(x.W, x.R, http.StatusConflict, "You cannot remove a running container "+b.ID+
			". Stop the container before attempting removal or force remove")
	case x.Fault.Effect == simulated.NotDone:
		x.W.WriteHeader(http.StatusNoContent)
	default:
		if _, err := s.world.Destroy(b.ID); err != nil {
			s.failed(x, err)
			return
		}
		x.W.WriteHeader(http.StatusNoContent)
	}
}
