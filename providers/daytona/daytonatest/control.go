package daytonatest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

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
	s.answer(q, func() (simulated.Sandbox, error) { return q.world.Start(q.id) })
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

var templateWords = map[reconcile.TemplateState]string{
	reconcile.TemplateActive:   "active",
	reconcile.TemplateInactive: "inactive",
	reconcile.TemplateBuilding: "building",
	reconcile.TemplateFailed:   "error",
}

func snapshotDTO(t simulated.Template) map[string]any {
	state := t.Raw
	if state == "" {
		state = templateWords[t.State]
	}
	dto := map[string]any{
		"id": t.ID, "name": t.Name, "general": t.General, "state": state, "size": 1.5, "entrypoint": nil,
		"cpu": 1, "gpu": 0, "mem": 1, "disk": 3, "errorReason": nil, "organizationId": Organization,
		"createdAt": stamp(t.CreatedAt), "updatedAt": stamp(t.CreatedAt), "lastUsedAt": nil, "sourceSandboxId": nil,
	}
	if t.Error != "" {
		dto["errorReason"] = t.Error
	}
	if !t.LastUsedAt.IsZero() {
		dto["lastUsedAt"] = stamp(t.LastUsedAt)
	}
	return dto
}

func (s *Server) snapshots(q *request) {
	items := []map[string]any{}
	for _, t := range q.world.Templates() {
		if strings.Contains(t.Name, q.URL.Query().Get("name")) {
			items = append(items, snapshotDTO(t))
		}
	}
	q.json(http.StatusOK, map[string]any{"items": items, "total": len(items), "page": 1, "totalPages": 1})
}

func (s *Server) snapshot(q *request) {
	t, err := q.world.TemplateOf(q.id)
	if err != nil {
		q.failed(err, "Snapshot")
		return
	}
	q.json(http.StatusOK, snapshotDTO(t))
}

// activate takes an id only, unlike get.
func (s *Server) activate(q *request) {
	t, err := q.world.TemplateOf(q.id)
	if err == nil && t.ID != q.id {
		err = fmt.Errorf("%w: activate takes an id", simulated.ErrGone)
	}
	if err == nil && q.fault.Effect != simulated.NotDone {
		t, err = q.world.ActivateTemplate(q.id)
	}
	if err != nil {
		q.failed(err, "Snapshot")
		return
	}
	q.json(http.StatusOK, snapshotDTO(t))
}
