package e2btest

import (
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// port is the daemon's.
const port = "49983"

func (s *Server) insideRoutes() {
	front := wiretest.Front{World: s.world, Fail: fail}
	handle := func(pattern string, kind simulated.Kind, do func(*request)) {
		s.mux.HandleFunc(pattern, front.Handle(
			func(r *http.Request) simulated.Call { return simulated.Call{Kind: kind, ID: target(r)} },
			func(x wiretest.Exchange) {
				q := s.request(x)
				q.id = target(x.R)
				s.settle()
				if s.proxied(q) {
					do(q)
				}
			}))
	}
	handle("GET /health", simulated.Files, s.health)
	handle("GET /metrics", simulated.UsageOf, s.measured)
	handle("GET /files", simulated.Files, s.download)
	handle("POST /files", simulated.Files, s.upload)
	handle("POST /filesystem.Filesystem/ListDir", simulated.Files, s.listDir)
	handle("POST /filesystem.Filesystem/Stat", simulated.Files, s.stat)
	handle("POST /filesystem.Filesystem/Remove", simulated.Files, s.remove)
	handle("POST /process.Process/Start", simulated.Exec, s.start)
	handle("POST /process.Process/List", simulated.Exec, s.processes)
}

// target is the sandbox that a call is for: named by a header, or by the host.
func target(r *http.Request) string {
	if id := r.Header.Get("E2b-Sandbox-Id"); id != "" {
		return short(id)
	}
	first, _, _ := strings.Cut(r.Host, ".")
	id, found := strings.CutPrefix(first, port+"-")
	if !found {
		return ""
	}
	return short(id)
}

// proxied is what stands before the sandboxes. It wakes one that is paused and asks for
// that, and answers in the daemon's place where there is none.
func (s *Server) proxied(q *request) bool {
	b, err := s.look(q.id)
	if err == nil && b.State == reconcile.SandboxSuspended && s.life(b.ID).AutoResume && s.controls().wake(b.ID) == nil {
		s.Live(b.ID, s.life(b.ID).Lifecycle, q.world.Now().Add(runs))
		b, err = s.look(q.id)
	}
	switch at := q.Header.Get("E2b-Sandbox-Port"); {
	case err != nil || b.State != reconcile.SandboxRunning:
		q.refuse(http.StatusBadGateway, "The sandbox was not found")
		return false
	case at != "" && at != port:
		q.closed(at)
		return false
	case q.URL.Path != "/health" && q.Header.Get("X-Access-Token") != token(b.ID):
		q.unauthorized()
		return false
	}
	return true
}

// refuse answers as the proxy does.
func (q *request) refuse(status int, message string) {
	q.json(status, map[string]any{"sandboxId": q.id, "message": message, "code": status})
}

func (q *request) closed(at string) {
	q.json(http.StatusBadGateway, map[string]any{"sandboxId": q.id, "port": at, "code": http.StatusBadGateway,
		"message": "The sandbox is running but port is not open"})
}

func (q *request) unauthorized() {
	q.json(http.StatusUnauthorized, map[string]any{"code": http.StatusUnauthorized,
		"message": "unauthorized access, please provide a valid access token or method signing if supported"})
}

// refusals are the codes of the daemon's calls, with the status that each goes with.
var refusals = map[string]int{
	"not_found": http.StatusNotFound, "invalid_argument": http.StatusBadRequest,
	"internal": http.StatusInternalServerError, "deadline_exceeded": http.StatusGatewayTimeout,
}

// rpcFail answers as the daemon does.
func (q *request) rpcFail(code, message string) {
	q.json(refusals[code], map[string]string{"code": code, "message": message})
}

// met answers what stands in the way of a call into the sandbox, in the words of who meets
// it, and reports whether anything does.
func (q *request) met(t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Dead:
		q.closed(port)
	case simulated.Hung:
		q.x.Silence()
	case simulated.Lost, simulated.NotRunning:
		q.refuse(http.StatusBadGateway, "The sandbox was not found")
	case simulated.Unknown:
		q.unauthorized()
	case simulated.NoPath:
		q.rpcFail("not_found", "path not found: no such file or directory")
	case simulated.TimedOut:
		q.rpcFail("deadline_exceeded", "context deadline exceeded")
	default:
		q.rpcFail("internal", string(t))
	}
	return true
}

// health needs no token.
func (s *Server) health(q *request) {
	_, trouble := s.world.Measure(q.id)
	if !q.met(trouble) {
		q.w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) measured(q *request) {
	u, trouble := s.world.Measure(q.id)
	if q.met(trouble) {
		return
	}
	q.json(http.StatusOK, map[string]any{
		"ts": q.world.Now().Unix(), "cpu_count": 2, "cpu_used_pct": u.CPUPercent, "mem_total": u.MemoryTotal,
		"mem_used": u.MemoryUsed, "mem_cache": 0, "disk_used": u.DiskUsed, "disk_total": u.DiskTotal,
		"mem_total_mib": u.MemoryTotal >> 20, "mem_used_mib": u.MemoryUsed >> 20,
	})
}
