package vercel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A script answers by method and path, and writes down what it was asked.
type script struct {
	mu    sync.Mutex
	says  map[string]string // "GET /v2/…": status, code and words, or a body
	asked []string
}

// ServeHTTP answers: "410 sandbox_stopped words", or a body of JSON with status 200, or
// "kind: body" of another kind, or "500-page".
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	key := r.Method + " " + r.URL.Path
	s.asked = append(s.asked, strings.TrimSpace(key+"?"+r.URL.RawQuery+" "+string(body)))
	says, known := s.says[key]
	s.mu.Unlock()
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	kind, text, other := strings.Cut(says, ": ")
	var status int
	var code, words string
	switch n, _ := fmt.Sscanf(says, "%d %s", &status, &code); {
	case !known:
		status, code, words = 404, "not_found", "No route for "+key
	case strings.HasSuffix(says, "-page"):
		_, _ = fmt.Sscanf(says, "%d", &status)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>")
		return
	case n == 2:
		_, words, _ = strings.Cut(says, code)
	case other && strings.Contains(kind, "/") && !strings.HasPrefix(says, "{"):
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
		return
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, says)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code,
		"message": strings.TrimSpace(words)}})
}

func (s *script) provider(t *testing.T, extra ...string) *Provider {
	t.Helper()
	e := entry.Entry{Name: "lab", URL: "http://lab.test", Token: "secret-key", Timeout: time.Minute,
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}},
		Link: entry.Link{TaskLabel: "task", Sandbox: "name"}, Extra: map[string]string{"team": "team_1", "project": "prj_1"}}
	for i := 0; i < len(extra); i += 2 {
		e.Extra[extra[i]] = extra[i+1]
	}
	p, err := New(e, entry.Options{Transport: wiretest.Transport(s)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	path1     = "/v2/sandboxes/sessions/sbx_1"
	path2     = "/v2/sandboxes/task-1"
	sessionIs = `{"session":{"id":"sbx_1","sourceSandboxName":"task-1","status":"%s","createdAt":1},"routes":[]}`
	recordIs  = `{"sandbox":{"name":"task-1","currentSessionId":"%s","status":"%s","tags":{"project":"mine"}}}`
)

// world is a script with a session of a record.
func world(status, present string, more ...string) *script {
	s := &script{says: map[string]string{
		"GET " + path1: fmt.Sprintf(sessionIs, status), "GET " + path2: fmt.Sprintf(recordIs, present, status),
	}}
	for i := 0; i < len(more); i += 2 {
		s.says[more[i]] = more[i+1]
	}
	return s
}

func mine(state reconcile.SandboxState) reconcile.Sandbox {
	return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sbx_1"}, Name: "task-1", Owned: true, State: state,
		Raw: string(state)}
}
