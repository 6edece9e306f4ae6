package daytonatest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// active counts the call as activity, unless the client asks that it does not.
func (q *request) active() {
	if q.Header.Get("X-Daytona-Skip-Last-Activity-Update") != "true" {
		q.world.Touch(q.id)
	}
}

// met answers what stands in the way of a call into the sandbox, in the words of the layer
// that meets it, and reports whether anything does.
func (q *request) met(t simulated.Trouble) bool {
	switch t {
	case simulated.Healthy:
		return false
	case simulated.Dead:
		q.w.WriteHeader(http.StatusBadGateway) // no body: the daemon behind the proxy is gone
	case simulated.Hung:
		<-q.Context().Done()
	case simulated.Lost:
		q.fail(http.StatusNotFound, "not found: sandbox container not found")
	case simulated.NoPath:
		q.w.WriteHeader(http.StatusNotFound)
	case simulated.TimedOut:
		q.fail(http.StatusRequestTimeout, "request timeout: command execution timeout")
	case simulated.NotRunning:
		q.fail(http.StatusBadRequest, "bad request: failed to resolve container IP after 3 attempts: "+
			"no IP address found. Is the Sandbox started?")
	case simulated.Unknown:
		q.fail(http.StatusUnauthorized, "unauthorized: Bearer token is invalid")
	default:
		q.fail(http.StatusInternalServerError, string(t))
	}
	return true
}

func (s *Server) exec(q *request) {
	var in struct {
		Command string
		Timeout int
	}
	if json.Unmarshal(q.body, &in) != nil || in.Command == "" {
		q.fail(http.StatusBadRequest, "command is required")
		return
	}
	if in.Timeout == 0 {
		in.Timeout = 10
	}
	q.active()
	r, trouble := q.world.Exec(q.id, in.Command, time.Duration(in.Timeout)*time.Second)
	if !q.met(trouble) {
		q.json(http.StatusOK, map[string]any{"exitCode": r.Exit, "result": r.Output})
	}
}

func (s *Server) files(q *request) {
	q.active()
	files, trouble := q.world.Folder(q.id, q.URL.Query().Get("path"))
	if q.met(trouble) {
		return
	}
	out := make([]map[string]any, len(files))
	for i, f := range files {
		mode := "-rw-r--r--"
		if f.Dir {
			mode = "drwxr-xr-x"
		}
		out[i] = map[string]any{"name": f.Name, "isDir": f.Dir, "size": f.Size, "mode": mode, "permissions": "0644",
			"owner": "daytona", "group": "daytona", "modTime": q.world.Now().String(), "modifiedAt": stamp(q.world.Now())}
	}
	q.json(http.StatusOK, out)
}

func (s *Server) metrics(q *request) {
	q.active()
	u, trouble := q.world.Measure(q.id)
	if q.met(trouble) {
		return
	}
	q.json(http.StatusOK, map[string]any{
		"cpuCount": 1, "cpuUsedPct": u.CPUPercent, "memTotal": u.MemoryTotal, "memUsed": u.MemoryUsed, "memCache": 0,
		"diskTotal": u.DiskTotal, "diskUsed": u.DiskUsed, "diskFree": u.DiskTotal - u.DiskUsed,
		"timestamp": stamp(q.world.Now()), "timestampUnix": q.world.Now().Unix(),
	})
}

func (s *Server) logs(q *request) {
	q.active()
	text, trouble := q.world.LogOf(q.id)
	if !q.met(trouble) {
		q.json(http.StatusOK, map[string]string{"output": text, "stdout": text, "stderr": ""})
	}
}
