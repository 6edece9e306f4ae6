package cloudflaretest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func failWorker(w http.ResponseWriter, r *http.Request, status int, words string) {
	code := strings.ToLower(strings.ReplaceAll(http.StatusText(status), " ", "_"))
	said(wiretest.Exchange{W: w, R: r}, status, code, words)
}

// said answers with an error in the contract's form.
func said(x wiretest.Exchange, status int, code, words string) {
	x.JSON(status, fields{"error": words, "code": code})
}

func (s *Server) routeWorker() {
	front := wiretest.Front{World: s.world, Fail: failWorker,
		Known: func(r *http.Request) bool { return s.o.Open || bearer(r, s.o.WorkerToken) }}
	handle := func(pattern string, kind simulated.Kind, do func(wiretest.Exchange)) {
		method, path, _ := strings.Cut(pattern, " ")
		s.mux.HandleFunc(method+" "+WorkerPath+path, front.Handle(func(r *http.Request) simulated.Call {
			return simulated.Call{Kind: kind, ID: r.PathValue("id"), Page: place(r.URL.Query().Get("cursor")).Page}
		}, do))
	}
	handle("GET /stats", simulated.AccountOf, s.stats)
	handle("GET /list", simulated.List, s.list)
	handle("GET /audit", simulated.AccountOf, s.audit)
	handle("POST /cleanup", simulated.Delete, s.cleanup)
	handle("POST /cleanup/emergency", simulated.Delete, s.cleanup)
	handle("GET /{id}", simulated.Get, s.recorded(func(x wiretest.Exchange, b simulated.Sandbox) {
		x.JSON(http.StatusOK, s.record(b))
	}))
	handle("DELETE /{id}", simulated.Delete, s.recorded(s.destroy))
	handle("GET /{id}/logs", simulated.LogsOf, s.recorded(s.logs))
	handle("GET /{id}/resources", simulated.UsageOf, s.recorded(s.resources))
	handle("POST /{id}/exec", simulated.Exec, s.recorded(s.exec))
	handle("GET /{id}/files", simulated.Files, s.recorded(s.files))
}

// recorded answers 404 for what the registry does not know.
func (s *Server) recorded(do func(wiretest.Exchange, simulated.Sandbox)) func(wiretest.Exchange) {
	return func(x wiretest.Exchange) {
		b, ok := s.world.Sandbox(x.R.PathValue("id"))
		if !ok || b.Gone || s.has(s.forgotten, b.ID) {
			said(x, http.StatusNotFound, "not_found", "no sandbox has the id "+x.R.PathValue("id"))
			return
		}
		do(x, b)
	}
}

var statuses = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "provisioning",
	reconcile.SandboxRunning:   "running",
	reconcile.SandboxSuspended: "running",
	reconcile.SandboxStopped:   "running",
	reconcile.SandboxFailed:    "failed",
	reconcile.SandboxDeleting:  "terminating",
}

func status(b simulated.Sandbox) string {
	switch {
	case b.Doomed:
		return "terminating"
	case b.Raw != "":
		return b.Raw
	}
	return statuses[b.State]
}

// behind is what the Worker says of the container.
func behind(b simulated.Sandbox) string {
	switch {
	case b.NoContainer:
		return "missing"
	case b.State == reconcile.SandboxRunning:
		return "running"
	case b.State == reconcile.SandboxStopped, b.State == reconcile.SandboxSuspended:
		return "stopped"
	}
	return "unknown"
}

// record is a sandbox as the Worker's registry shows it.
func (s *Server) record(b simulated.Sandbox) fields {
	out := fields{
		"id": b.ID, "status": status(b), "created_at": stamp(b.CreatedAt), "agent_type": nil, "task_id": nil,
		"age_minutes": s.world.Now().Sub(b.CreatedAt).Minutes(),
	}
	for _, key := range []string{"agent_type", "task_id"} {
		if value, ok := b.Labels[key]; ok {
			out[key] = value
		}
	}
	if s.o.Terse {
		return out
	}
	out["container"], out["last_activity_at"] = behind(b), stamp(b.LastActivityAt)
	out["actor_id"], out["image"], out["labels"] = s.remember(b.ID), b.Template, b.Labels
	return out
}

func (s *Server) list(x wiretest.Exchange) {
	limit := number(x.R.URL.Query().Get("limit"), 100)
	if s.o.Terse { // the runbook's Worker has one page
		limit = 1 << 20
	}
	if limit < 1 || limit > 1000 && !s.o.Terse {
		said(x, http.StatusBadRequest, "invalid_request", "limit must be between 1 and 1000")
		return
	}
	boxes, next := s.page(x, x.R.URL.Query().Get("cursor"), limit)
	out := []fields{}
	for _, b := range boxes {
		if !s.has(s.forgotten, b.ID) {
			out = append(out, s.record(b))
		}
	}
	if s.o.Terse {
		x.JSON(http.StatusOK, out)
		return
	}
	var cursor any
	if next != "" {
		cursor = next
	}
	x.JSON(http.StatusOK, fields{"sandboxes": out, "next_cursor": cursor})
}

func (s *Server) stats(x wiretest.Exchange) {
	count := map[string]int{}
	all := s.world.Sandboxes()
	for _, b := range all {
		count[status(b)]++
	}
	x.JSON(http.StatusOK, fields{
		"active": len(all) - count["provisioning"] - count["terminating"], "provisioning": count["provisioning"],
		"terminating": count["terminating"], "total_created": len(all), "total_destroyed": 0,
	})
}

func (s *Server) audit(x wiretest.Exchange) {
	if s.o.Terse {
		said(x, http.StatusNotFound, "no_route", "no such path")
		return
	}
	records, actual := []string{}, []string{}
	for _, b := range s.world.Sandboxes() {
		switch {
		case b.NoContainer:
			records = append(records, b.ID)
		case s.has(s.forgotten, b.ID):
			actual = append(actual, b.ID)
		}
	}
	x.JSON(http.StatusOK, fields{"orphaned_records": records, "orphaned_actual": actual})
}

// cleanup is for nobody: it is journaled as the destructive call that it is.
func (s *Server) cleanup(x wiretest.Exchange) {
	x.JSON(http.StatusOK, fields{"cleaned": 0, "failed": []any{}})
}

func (s *Server) destroy(x wiretest.Exchange, b simulated.Sandbox) {
	switch {
	case b.Refuse != "":
		said(x, http.StatusUnprocessableEntity, "refused", b.Refuse)
		return
	case b.Doomed:
		said(x, http.StatusConflict, "terminating", "is being terminated already")
		return
	}
	if x.Fault.Effect != simulated.NotDone {
		if _, err := s.world.Destroy(b.ID); err != nil {
			said(x, http.StatusInternalServerError, "failed", err.Error())
			return
		}
	}
	x.JSON(http.StatusAccepted, fields{"id": b.ID, "status": "terminating"})
}

// met answers what stands in the way of a call into the container, and reports whether
// anything does.
func met(x wiretest.Exchange, t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Hung:
		x.Silence()
	case simulated.NotRunning, simulated.Lost:
		said(x, http.StatusConflict, "not_running", "its container does not run")
	case simulated.NoPath:
		said(x, http.StatusNotFound, "no_such_path", "no such file or directory")
	case simulated.TimedOut:
		said(x, http.StatusGatewayTimeout, "timeout", "the command did not end in time")
	default:
		said(x, http.StatusBadGateway, "exec_transport_error", "the container did not take the command: "+string(t))
	}
	return true
}

func (s *Server) exec(x wiretest.Exchange, b simulated.Sandbox) {
	var in struct {
		Command []string `json:"command"`
		Timeout int64    `json:"timeout_ms"`
	}
	if json.Unmarshal(x.Body, &in) != nil || len(in.Command) == 0 {
		said(x, http.StatusBadRequest, "invalid_request", "command must be a list of texts")
		return
	}
	if in.Timeout == 0 {
		in.Timeout = 10_000
	}
	line := strings.Join(in.Command, " ")
	if len(in.Command) == 3 && in.Command[1] == "-c" {
		line = in.Command[2]
	}
	r, trouble := s.world.Exec(b.ID, line, time.Duration(in.Timeout)*time.Millisecond)
	if b.NoContainer {
		trouble = simulated.NotRunning
	}
	if !met(x, trouble) {
		x.JSON(http.StatusOK, fields{"exit_code": r.Exit, "stdout": r.Output, "stderr": ""})
	}
}

func (s *Server) files(x wiretest.Exchange, b simulated.Sandbox) {
	found, trouble := s.world.Folder(b.ID, x.R.URL.Query().Get("path"))
	if b.NoContainer {
		trouble = simulated.NotRunning
	}
	if met(x, trouble) {
		return
	}
	out := make([]fields, len(found))
	for i, f := range found {
		kind := "file"
		if f.Dir {
			kind = "dir"
		}
		out[i] = fields{"name": f.Name, "type": kind, "size": f.Size}
	}
	x.JSON(http.StatusOK, fields{"entries": out})
}

func (s *Server) logs(x wiretest.Exchange, b simulated.Sandbox) {
	text, trouble := s.world.LogOf(b.ID)
	if met(x, trouble) {
		return
	}
	x.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(x.W, text) // the client may have left
}

func (s *Server) resources(x wiretest.Exchange, b simulated.Sandbox) {
	u, trouble := s.world.Measure(b.ID)
	if met(x, trouble) {
		return
	}
	x.JSON(http.StatusOK, fields{
		"cpu_percent": u.CPUPercent, "memory_mb": float64(u.MemoryUsed) / (1 << 20),
		"duration_ms": s.world.Now().Sub(b.CreatedAt).Milliseconds(), "operations": b.Running,
	})
}
