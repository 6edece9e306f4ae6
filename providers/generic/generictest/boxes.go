package generictest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// phases are the yard's words for states.
var phases = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating: "lifting", reconcile.SandboxRunning: "placed", reconcile.SandboxSuspended: "covered",
	reconcile.SandboxStopped: "parked", reconcile.SandboxFailed: "dented", reconcile.SandboxDeleting: "scrapping",
}

// box is a sandbox on the wire.
func box(b simulated.Sandbox) map[string]any {
	phase := b.Raw
	if phase == "" {
		phase = phases[b.State]
	}
	if b.Doomed && b.Raw == "" {
		phase = "scrapping"
	}
	out := map[string]any{
		"box_id": b.ID, "title": b.FormerName(), "phase": phase, "tags": b.Labels, "zone": b.Region, "temporary": b.Ephemeral,
		"cpus": 2, "ram": 4,
		"times": map[string]any{"born": b.CreatedAt.UnixMilli(), "changed": b.UpdatedAt.UTC().Format(time.RFC3339Nano),
			"used": b.LastActivityAt.UTC().Format(time.RFC3339Nano)},
		"image": map[string]any{"name": b.Template}, "why": nil,
	}
	if b.Error != "" {
		out["why"] = b.Error
	}
	return out
}

// list serves pages in the yard's way of paging, oldest first.
func (s *Server) list(x wiretest.Exchange) {
	at := s.at(x.R)
	ask := simulated.Query{Labels: wanted(x.R), Limit: at.limit, After: at.after}
	counted := s.o.Paging == "page" || s.o.Paging == "offset" || s.o.Paging == "none"
	if counted {
		ask.Limit, ask.After = 1<<20, ""
	}
	boxes, next := s.world.Page(ask, x.Fault)
	total := len(boxes)
	if counted && s.o.Paging != "none" {
		from := min(at.offset, total)
		if x.Fault.Effect == simulated.SameCursor { // the same rows again, of very many
			from, total = 0, 1<<20
		}
		boxes = boxes[from:min(from+at.limit, len(boxes))]
	}
	items := make([]map[string]any, len(boxes))
	for i := range boxes {
		items[i] = box(boxes[i])
	}
	out := map[string]any{"boxes": items}
	s.turn(x, out, turning{at, total, next})
	if len(s.o.Lacks) > 0 {
		out["unread_zones"] = s.o.Lacks
	}
	x.JSON(http.StatusOK, out)
}

// A turning is what a page says of the next one.
type turning struct {
	place
	total int
	next  string
}

func (s *Server) turn(x wiretest.Exchange, out map[string]any, t turning) {
	cursor := ""
	if t.next != "" {
		cursor = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", t.number+1, t.next))
		if x.Fault.Effect == simulated.SameCursor {
			cursor = "again"
		}
	}
	switch s.o.Paging {
	case "cursor":
		out["after"] = nil
		if cursor != "" {
			out["after"] = cursor
		}
	case "link":
		q := x.R.URL.Query()
		links := fmt.Sprintf(`<%s>; rel="self"`, x.R.URL.RequestURI())
		if q.Set("after", cursor); cursor != "" {
			links += fmt.Sprintf(`, <%s?%s>; rel="next"`, x.R.URL.Path, q.Encode())
		}
		x.W.Header().Set("Link", links)
	case "page", "offset":
		if !s.o.Shy {
			out["total"] = t.total
		}
	}
}

func (s *Server) get(x wiretest.Exchange) {
	b, err := s.world.Look(x.R.PathValue("id"))
	s.answer(x, http.StatusOK, b, err)
}

func (s *Server) answer(x wiretest.Exchange, status int, b simulated.Sandbox, err error) {
	if err != nil {
		s.failed(x, err)
		return
	}
	x.JSON(status, map[string]any{"box": box(b)})
}

func (s *Server) scrap(x wiretest.Exchange) {
	if x.Fault.Effect != simulated.NotDone {
		if _, err := s.world.Destroy(x.R.PathValue("id")); err != nil {
			s.failed(x, err)
			return
		}
	}
	x.JSON(http.StatusAccepted, map[string]any{"queued": true})
}

func (s *Server) halt(x wiretest.Exchange) { s.change(x, s.world.Halt) }
func (s *Server) wake(x wiretest.Exchange) { s.change(x, s.world.Start) }

func (s *Server) change(x wiretest.Exchange, do func(string) (simulated.Sandbox, error)) {
	if x.Fault.Effect == simulated.NotDone {
		do = s.world.Look
	}
	b, err := do(x.R.PathValue("id"))
	s.answer(x, http.StatusOK, b, err)
}

// met answers what stands in the way of a call into a box.
func (s *Server) met(x wiretest.Exchange, t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Hung:
		x.Silence()
	case simulated.TimedOut:
		s.refuse(x, http.StatusGatewayTimeout, "too_slow", "the command did not end in time")
	case simulated.NotRunning:
		s.refuse(x, http.StatusConflict, "not_placed", "the box is not placed")
	case simulated.Unknown:
		s.refuse(x, http.StatusUnauthorized, "who", "the box does not know you")
	case simulated.Dead:
		x.W.WriteHeader(http.StatusBadGateway)
	default:
		s.refuse(x, http.StatusInternalServerError, "box_broken", string(t))
	}
	return true
}

func (s *Server) run(x wiretest.Exchange) {
	var in struct {
		Cmd     []string
		Seconds int
	}
	if json.Unmarshal(x.Body, &in) != nil || len(in.Cmd) != 3 || in.Cmd[0] != "sh" || in.Seconds < 1 {
		s.refuse(x, http.StatusBadRequest, "bad_order", `cmd must be ["sh", "-c", COMMAND], seconds at least 1`)
		return
	}
	id := x.R.PathValue("id")
	r, trouble := s.world.Exec(id, in.Cmd[2], time.Duration(in.Seconds)*time.Second)
	if !s.met(x, trouble) {
		x.JSON(http.StatusOK, map[string]any{"result": map[string]any{"code": r.Exit, "out": r.Output}})
	}
}

func (s *Server) ls(x wiretest.Exchange) {
	path, _ := url.QueryUnescape(x.R.URL.Query().Get("path"))
	files, trouble := s.world.Folder(x.R.PathValue("id"), path)
	if s.met(x, trouble) {
		return
	}
	names := []string{}
	for _, f := range files {
		names = append(names, f.Name)
	}
	x.JSON(http.StatusOK, map[string]any{"names": names})
}

func (s *Server) log(x wiretest.Exchange) {
	text, trouble := s.world.LogOf(x.R.PathValue("id"))
	if s.met(x, trouble) {
		return
	}
	x.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(x.W, text)
}
