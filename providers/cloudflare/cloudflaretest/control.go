package cloudflaretest

import (
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

type fields = map[string]any

// failure is the envelope of an error.
func failure(code int, words string) fields {
	return fields{"success": false, "errors": []fields{{"code": code, "message": words}}, "messages": []any{},
		"result": nil}
}

func success(result any, info fields) fields {
	out := fields{"success": true, "errors": []any{}, "messages": []any{}, "result": result}
	if info != nil {
		out["result_info"] = info
	}
	return out
}

func failControl(w http.ResponseWriter, r *http.Request, status int, words string) {
	code := 1000
	if status == http.StatusUnauthorized {
		code, words = 10000, "Authentication error"
	}
	wiretest.Exchange{W: w, R: r}.JSON(status, failure(code, words))
}

func (s *Server) routeControl() {
	front := wiretest.Front{World: s.world, Fail: failControl,
		Known: func(r *http.Request) bool { return bearer(r, s.o.Key) }}
	const applications = ControlPath + "/accounts/{account}/containers/applications"
	handle := func(pattern string, kind simulated.Kind, do func(wiretest.Exchange)) {
		s.mux.HandleFunc(pattern, front.Handle(func(r *http.Request) simulated.Call {
			return simulated.Call{Kind: kind, ID: r.PathValue("id"), Page: place(r.URL.Query().Get("page_token")).Page}
		}, func(x wiretest.Exchange) { s.scoped(x, do) }))
	}
	handle("GET "+applications, simulated.AccountOf, s.applications)
	handle("GET "+applications+"/{app}", simulated.AccountOf, func(x wiretest.Exchange) {
		x.JSON(http.StatusOK, success(s.application(), nil))
	})
	handle("GET "+applications+"/{app}/instances-v2", simulated.List, s.instances)
	handle("GET "+applications+"/{app}/instances/{id}", simulated.Get, s.instance)
	handle("DELETE "+applications+"/{app}/instances/{id}", simulated.Delete, s.deleteInstance)
}

// scoped lets through what asks for the account and the application that there are.
func (s *Server) scoped(x wiretest.Exchange, do func(wiretest.Exchange)) {
	switch app := x.R.PathValue("app"); {
	case x.R.PathValue("account") != Account:
		failControl(x.W, x.R, http.StatusForbidden, "Authentication error")
	case app != "" && app != Application:
		failControl(x.W, x.R, http.StatusNotFound, "APPLICATION_NOT_FOUND")
	default:
		do(x)
	}
}

func (s *Server) applications(x wiretest.Exchange) {
	x.JSON(http.StatusOK, success([]fields{s.application()}, fields{"per_page": 50}))
}

func (s *Server) application() fields {
	running := 0
	for _, b := range s.world.Sandboxes() {
		if b.State == reconcile.SandboxRunning && !b.NoContainer {
			running++
		}
	}
	now := stamp(s.world.Now())
	return fields{
		"id": Application, "account_id": Account, "name": "sandboxes", "scheduling_policy": "durable_object",
		"configuration": fields{"image": "registry/sandbox:1", "instance_type": "basic"}, "instances": 0,
		"max_instances": 1000, "version": 3, "durable_objects": fields{"namespace_id": strings.Repeat("ab", 16)},
		"health":     fields{"instances": fields{"active": 0, "assigned": running}, "summary": "healthy"},
		"created_at": now, "updated_at": now,
	}
}

// instances lists what has a container, in the order of creation, which the vendor does not
// promise.
func (s *Server) instances(x wiretest.Exchange) {
	query := x.R.URL.Query()
	limit := number(query.Get("per_page"), 50)
	if s.o.MaxPerPage > 0 && limit > s.o.MaxPerPage {
		failControl(x.W, x.R, http.StatusBadRequest, "per_page is too large")
		return
	}
	boxes, next := s.page(x, query.Get("page_token"), limit)
	out := []fields{}
	for _, b := range boxes {
		one, name := s.container(b), s.nameOf(b)
		if b.NoContainer || !strings.HasPrefix(name, query.Get("name_prefix")) {
			continue
		}
		out = append(out, one)
	}
	info := fields{"per_page": limit}
	if next != "" {
		info["next_page_token"] = next
	}
	x.JSON(http.StatusOK, success(out, info))
}

func (s *Server) instance(x wiretest.Exchange) {
	b, ok := s.object(x.R.PathValue("id"))
	if !ok || b.NoContainer {
		failControl(x.W, x.R, http.StatusNotFound, "INSTANCE_NOT_FOUND")
		return
	}
	x.JSON(http.StatusOK, success(s.container(b), nil))
}

// object is the sandbox of a Durable Object. One that is gone is on record for months.
func (s *Server) object(id string) (simulated.Sandbox, bool) {
	if b, ok := s.world.Sandbox(id); ok {
		return b, Object(id) == id
	}
	for _, b := range s.world.Sandboxes() {
		s.remember(b.ID)
	}
	s.mu.Lock()
	name := s.objects[id]
	s.mu.Unlock()
	return s.world.Sandbox(name)
}

// deleteInstance is the vendor's gated call.
func (s *Server) deleteInstance(x wiretest.Exchange) {
	b, ok := s.object(x.R.PathValue("id"))
	switch {
	case !s.o.InstanceAPI:
		failControl(x.W, x.R, http.StatusBadRequest, "Container instance APIs are not enabled for this application")
		return
	case !ok:
		failControl(x.W, x.R, http.StatusNotFound, "INSTANCE_NOT_FOUND")
		return
	case b.Refuse != "":
		failControl(x.W, x.R, http.StatusBadRequest, b.Refuse)
		return
	}
	if x.Fault.Effect != simulated.NotDone && !b.Gone {
		_, _ = s.world.Destroy(b.ID) // one that went meanwhile is as well
	}
	x.JSON(http.StatusOK, success(fields{}, nil))
}

var words = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "provisioning",
	reconcile.SandboxRunning:   "running",
	reconcile.SandboxSuspended: "inactive",
	reconcile.SandboxStopped:   "stopped",
	reconcile.SandboxFailed:    "failed",
	reconcile.SandboxDeleting:  "stopping",
	reconcile.SandboxEnded:     "stopped",
}

// container is a sandbox as the control plane shows it.
func (s *Server) container(b simulated.Sandbox) fields {
	state := words[b.State]
	switch {
	case b.Gone:
	case b.Raw != "":
		state = b.Raw
	case b.Doomed:
		state = "stopping"
	}
	status := fields{"state": state, "updated_at": stamp(b.UpdatedAt)}
	if b.Gone {
		status["exit_code"] = 137
	}
	out := fields{
		"id": s.remember(b.ID), "application_id": Application, "image": b.Template, "status": status,
		"configuration": fields{"disk": 4000, "memory": 1024, "vcpu": 0.25},
		"location":      fields{"name": "ams01", "region": "WEUR"},
	}
	if name := s.nameOf(b); name != "" {
		out["name"] = name
	}
	if b.State != reconcile.SandboxCreating {
		out["started_at"] = stamp(b.CreatedAt)
	}
	return out
}

// nameOf is the name of the Durable Object. A sandbox whose id is that of an object has a name
// besides; any other's id is the name.
func (s *Server) nameOf(b simulated.Sandbox) string {
	switch {
	case s.has(s.unnamed, b.ID):
		return ""
	case Object(b.ID) == b.ID:
		return b.FormerName()
	}
	return b.ID
}
