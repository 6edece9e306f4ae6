package daytonatest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A spot is what a cursor holds. Clients must not look inside.
type spot struct {
	After string `json:"a"`
	Page  int    `json:"p"`
}

// place reads a cursor: what it comes after, and which page it asks for.
func place(cursor string) (after string, page int) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	at := spot{Page: 1}
	if err == nil && cursor != "" {
		_ = json.Unmarshal(text, &at)
	}
	return at.After, at.Page
}

func cursorOf(at spot) string {
	text, _ := json.Marshal(at) // a text and a number always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

// list serves only the order that does not move while it is read; the vendor has others.
func (s *Server) list(q *request) {
	v := q.URL.Query()
	if v.Get("sort") != "" && v.Get("sort") != "createdAt" || v.Get("order") == "desc" {
		q.fail(http.StatusNotImplemented, "the simulator lists by createdAt asc only")
		return
	}
	ask := simulated.Query{Limit: number(v.Get("limit"), 100), Hidden: v.Get("includeErroredDeleted") == "true"}
	if ask.Limit < 1 || ask.Limit > 200 {
		q.fail(http.StatusBadRequest, "limit must not be greater than 200")
		return
	}
	if text := v.Get("createdAtAfter"); text != "" {
		var err error
		if ask.Made, err = time.Parse(time.RFC3339, text); err != nil {
			q.fail(http.StatusBadRequest, "createdAtAfter must be a valid ISO 8601 date string")
			return
		}
	}
	if text := v.Get("labels"); text != "" && json.Unmarshal([]byte(text), &ask.Labels) != nil {
		q.fail(http.StatusBadRequest, "labels must be a JSON object")
		return
	}
	var page int
	ask.After, page = place(v.Get("cursor"))
	s.sendPage(q, ask, page)
}

func (s *Server) sendPage(q *request, ask simulated.Query, page int) {
	boxes, next := q.world.Page(ask, q.fault)
	items := make([]map[string]any, len(boxes))
	for i, b := range boxes {
		items[i] = s.item(q, b)
	}
	var cursor any
	switch {
	case q.fault.Effect == simulated.SameCursor:
		cursor = cursorOf(spot{After: "again", Page: 2})
	case next != "":
		cursor = cursorOf(spot{After: next, Page: page + 1})
	}
	q.json(http.StatusOK, map[string]any{"items": items, "nextCursor": cursor})
}

func (s *Server) create(q *request) {
	var in struct {
		Name, Snapshot, Target string
		Labels                 map[string]string
		TTLMinutes             int
	}
	if err := json.Unmarshal(q.body, &in); err != nil {
		q.fail(http.StatusBadRequest, "body is no JSON")
		return
	}
	want := simulated.Sandbox{Name: in.Name, Template: in.Snapshot, Region: in.Target, Labels: in.Labels}
	if in.TTLMinutes > 0 {
		want.ExpiresAt = q.world.Now().Add(time.Duration(in.TTLMinutes) * time.Minute)
	}
	b, err := q.world.Create(want)
	if err != nil {
		q.failed(err, "Sandbox")
		return
	}
	q.json(http.StatusOK, s.whole(q, b))
}

func (s *Server) get(q *request) {
	s.answer(q, func() (simulated.Sandbox, error) { return q.world.Look(q.id) })
}

func (s *Server) destroy(q *request) {
	s.answer(q, func() (simulated.Sandbox, error) {
		if q.fault.Effect == simulated.NotDone {
			b, err := q.world.Look(q.id)
			b.Doomed = true
			return b, err
		}
		return q.world.Destroy(q.id)
	})
}

func (s *Server) stop(q *request) {
	s.answer(q, func() (simulated.Sandbox, error) {
		if q.fault.Effect == simulated.NotDone {
			return q.world.Look(q.id)
		}
		return q.world.Halt(q.id)
	})
}

func (s *Server) start(q *request) {
	s.answer(q, func() (simulated.Sandbox, error) {
		if q.fault.Effect == simulated.NotDone {
			return q.world.Look(q.id)
		}
		return q.world.Start(q.id)
	})
}

func (s *Server) answer(q *request, do func() (simulated.Sandbox, error)) {
	b, err := do()
	if err != nil {
		q.failed(err, "Sandbox")
		return
	}
	q.json(http.StatusOK, s.whole(q, b))
}

func (s *Server) labels(q *request) {
	var in struct {
		Labels map[string]string `json:"labels"`
	}
	if json.Unmarshal(q.body, &in) != nil || in.Labels == nil {
		q.fail(http.StatusBadRequest, "labels must be an object")
		return
	}
	if _, err := q.world.Relabel(q.id, in.Labels); err != nil {
		q.failed(err, "Sandbox")
		return
	}
	q.json(http.StatusOK, in)
}

func (s *Server) activity(q *request) {
	q.world.Touch(q.id)
	q.w.WriteHeader(http.StatusCreated)
}

func (s *Server) proxyURL(q *request) {
	if _, err := q.world.Look(q.id); err != nil {
		q.failed(err, "Sandbox")
		return
	}
	q.json(http.StatusOK, map[string]string{"url": s.toolbox(q)})
}
