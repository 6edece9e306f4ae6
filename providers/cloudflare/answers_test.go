package cloudflare

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A reply is one answer of either half.
type reply struct {
	status int
	kind   string
	body   string
}

const (
	js    = "application/json"
	html  = "text/html; charset=utf-8"
	plain = "text/plain"

	application1 = `{"success":true,"result":{"id":"app","name":"boxes"}}`
	notFound     = `{"success":false,"errors":[{"code":1000,"message":"not found"}],"result":null}`
	record1      = `{"id":"sb-1","status":"running","created_at":"2026-11-01T12:00:00.000Z"}`
)

// A script answers calls by method and path, and remembers them.
type script struct {
	mu      sync.Mutex
	answers map[string]reply
	calls   []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/accounts/acct/containers/applications"), "/api")
	call := r.Method + " " + path
	s.calls = append(s.calls, call)
	a, ok := s.answers[call]
	if !ok {
		a = reply{http.StatusNotFound, plain, "404 Not Found"}
	}
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// against is an adapter of both halves, or of the Worker alone, before a script.
func against(t *testing.T, both bool, answers map[string]reply) (*Provider, *script) {
	t.Helper()
	s := &script{answers: answers}
	e := entry.Entry{Name: "lab", URL: "http://lab.test", Timeout: time.Minute,
		Extra: map[string]string{keyWorkerURL: "http://lab.test/api", keyWorkerToken: "worker-secret"}}
	if both {
		e.Token, e.Extra[keyAccount], e.Extra[keyApplication] = "control-secret", "acct", "app"
	}
	p, err := New(e, entry.Options{Transport: wiretest.Transport(s)})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// What is gone, and what is only not known, by what the halves answer.
func TestGone(t *testing.T) {
	object := strings.Repeat("a", 64)
	named := reply{200, js, `{"id":"sb-1","status":"running","actor_id":"` + object + `"}`}
	empty := reply{200, js, `{"success":true,"result":[],"result_info":{}}`}
	for name, test := range map[string]struct {
		both    bool
		answers map[string]reply
		want    string // "gone", "found" or "unknown"
	}{
		"the Worker's code": {answers: map[string]reply{"GET /sb-1": {404, js, `{"error":"no sandbox sb-1","code":"not_found"}`}},
			want: "gone"},
		"the Worker's own code": {answers: map[string]reply{"GET /sb-1": {404, js, `{"error":"x","code":"sandbox_not_found"}`}},
			want: "gone"},
		"a router's code, and the list has it": {answers: map[string]reply{
			"GET /sb-1": {404, js, `{"error":"Not Found","code":"not_found"}`}, "GET /list": {200, js, "[" + record1 + "]"}}, want: "found"},
		"a router's words with the path, and the list has it": {answers: map[string]reply{
			"GET /sb-1": {404, js, `{"message":"Route GET:/api/sandbox/sb-1 not found"}`}, "GET /list": {200, js, "[" + record1 + "]"}}, want: "found"},
		"a router's code with the path, and the list has it": {answers: map[string]reply{
			"GET /sb-1": {404, js, `{"error":"nothing at /api/sandbox/sb-1","code":"not_found"}`}, "GET /list": {200, js, "[" + record1 + "]"}}, want: "found"},
		"the Worker's words": {answers: map[string]reply{"GET /sb-1": {404, js, `{"error":"Sandbox not found"}`}}, want: "gone"},
		"the Worker's 410":   {answers: map[string]reply{"GET /sb-1": {410, js, `{"error":"was terminated"}`}}, want: "gone"},
		"a 410 of a page":    {answers: map[string]reply{"GET /sb-1": {410, html, "<html>"}}, want: "unknown"},
		"a router's 404, and the list has it": {answers: map[string]reply{"GET /list": {200, js, "[" + record1 + "]"}},
			want: "found"},
		"a router's 404 in JSON, and the list has it": {answers: map[string]reply{
			"GET /sb-1": {404, js, `{"status":404,"error":"Not Found"}`}, "GET /list": {200, js, "[" + record1 + "]"}}, want: "found"},
		"a router's 404, and the list lacks it": {answers: map[string]reply{"GET /list": {200, js, "[]"}}, want: "gone"},
		"a router's 404, and no list either":    {want: "unknown"},
		"a 405, and the list lacks it": {answers: map[string]reply{"GET /sb-1": {405, plain, "no"},
			"GET /list": {200, js, `{"sandboxes":[]}`}}, want: "gone"},
		"a list that is none": {answers: map[string]reply{"GET /list": {200, js, `{"items":[]}`}}, want: "unknown"},
		"a list with a record without an id": {answers: map[string]reply{"GET /list": {200, js, `[{"status":"running"}]`}},
			want: "unknown"},
		"another one": {answers: map[string]reply{"GET /sb-1": {200, js, `{"id":"sb-2","status":"running"}`}}, want: "unknown"},
		"no sandbox":  {answers: map[string]reply{"GET /sb-1": {200, js, `{}`}}, want: "unknown"},
		"neither half has it": {both: true, answers: map[string]reply{"GET /list": {200, js, "[]"},
			"GET /app/instances-v2": empty, "GET /app": {200, js, application1}}, want: "gone"},
		"no record, and the control plane says nothing": {both: true, answers: map[string]reply{"GET /list": {200, js, "[]"},
			"GET /app/instances-v2": {500, js, "{}"}}, want: "unknown"},
		"no record, and an answer without success": {both: true, answers: map[string]reply{"GET /list": {200, js, "[]"},
			"GET /app/instances-v2": {200, js, `{"success":false,"result":[]}`}}, want: "unknown"},
		"no record, and an answer without a result": {both: true, answers: map[string]reply{"GET /list": {200, js, "[]"},
			"GET /app/instances-v2": {200, js, `{"success":true}`}}, want: "unknown"},
		"a record, and its instance is gone": {both: true, answers: map[string]reply{"GET /sb-1": named,
			"GET /app/instances/" + object: {404, js, notFound}, "GET /app": {200, js, application1}}, want: "found"},
		"a record, and its application is gone": {both: true, answers: map[string]reply{"GET /sb-1": named,
			"GET /app/instances/" + object: {404, js, notFound}, "GET /app": {404, js, notFound}}, want: "unknown"},
		"a record, and the path is wrong": {both: true, answers: map[string]reply{"GET /sb-1": named,
			"GET /app/instances/" + object: {404, js, strings.Replace(notFound, "1000", "7003", 1)},
			"GET /app":                     {200, js, application1}}, want: "unknown"},
		"a record, and another one's instance": {both: true, answers: map[string]reply{"GET /sb-1": named,
			"GET /app/instances/" + object: {200, js, `{"success":true,"result":{"id":"b"}}`},
			"GET /app":                     {200, js, application1}}, want: "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := against(t, test.both, test.answers)
				s, err := p.Get(t.Context(), "sb-1")
				got := "unknown"
				switch {
				case err == nil:
					got = "found"
				case errors.Is(err, reconcile.ErrNotFound):
					got = "gone"
				}
				if got != test.want || err == nil && s.ID != "sb-1" {
					t.Errorf("Get = %+v, %v; want it %s", s, err, test.want)
				}
			})
		})
	}
}

// An instance of which only its application's absence is known is not gone.
func TestInstanceGone(t *testing.T) {
	object := strings.Repeat("a", 64)
	for name, test := range map[string]struct {
		app  reply
		gone bool
	}{
		"its application is there":     {reply{200, js, application1}, true},
		"its application is not":       {reply{404, js, notFound}, false},
		"its application is forbidden": {reply{403, js, notFound}, false},
		"its application breaks":       {reply{500, js, notFound}, false},
		"a page where it should be":    {reply{200, html, "<html>"}, false},
	} {
		s := &script{answers: map[string]reply{"GET /app": test.app, "GET /app/instances/" + object: {404, js, notFound}}}
		p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test", Token: "t",
			Extra: map[string]string{keyAccount: "acct", keyApplication: "app"}}, entry.Options{Transport: wiretest.Transport(s)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Get(t.Context(), object)
		if gone := errors.Is(err, reconcile.ErrNotFound); gone != test.gone || err == nil {
			t.Errorf("%s: Get = %v, want gone %t", name, err, test.gone)
		}
	}
}

// What each answer to a delete means. None of them is a proof that it is gone.
func TestDeleteAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		reply reply
		want  reconcile.Termination
		wrong bool
	}{
		"200":                      {reply{200, js, `{}`}, reconcile.TerminateAccepted, false},
		"200 in plain":             {reply{200, plain, "terminated"}, reconcile.TerminateAccepted, false},
		"202":                      {reply{202, "", ""}, reconcile.TerminateAccepted, false},
		"204":                      {reply{204, "", ""}, reconcile.TerminateAccepted, false},
		"409: under way":           {reply{409, js, `{"error":"terminating"}`}, reconcile.TerminateAccepted, false},
		"404: no record":           {reply{404, js, `{"error":"no such sandbox","code":"not_found"}`}, reconcile.TerminateGone, false},
		"404: of a router":         {reply{404, js, `{"error":"Not Found","code":"not_found"}`}, "", true},
		"404: no such path":        {reply{404, plain, "404 Not Found"}, "", true},
		"a login page":             {reply{200, html, "<html>"}, "", true},
		"a redirect to a login":    {reply{302, html, ""}, "", true},
		"401":                      {reply{401, js, `{"error":"no"}`}, "", true},
		"403":                      {reply{403, js, `{"error":"no"}`}, "", true},
		"405: it has no delete":    {reply{405, plain, "no"}, reconcile.TerminateRefused, true},
		"422: it will not":         {reply{422, js, `{"error":"is protected"}`}, reconcile.TerminateRefused, true},
		"429":                      {reply{429, js, `{"error":"slower"}`}, "", true},
		"500: the record stays":    {reply{500, js, `{"error":"failed"}`}, "", true},
		"502 of what is before it": {reply{502, html, "<html>"}, "", true},
	} {
		p, s := against(t, false, map[string]reply{"GET /sb-1": {200, js, record1}, "DELETE /sb-1": test.reply})
		how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}})
		if how != test.want || (err != nil) != test.wrong {
			t.Errorf("%s: Terminate = %q, %v; want %q, error %t", name, how, err, test.want, test.wrong)
		}
		if want := []string{"GET /sb-1", "DELETE /sb-1"}; !slices.Equal(s.calls, want) {
			t.Errorf("%s: calls %v, want one look and one delete", name, s.calls)
		}
	}
}

// The Worker's own paths are no ids: its clean-ups end many at once.
func TestPathsAreNoIDs(t *testing.T) {
	for _, id := range []string{"list", "stats", "cleanup", "audit", "", "..", "."} {
		p, s := against(t, true, nil)
		expected := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: id}}
		if how, err := p.Terminate(t.Context(), expected); how != "" || !errors.Is(err, reconcile.ErrUnknownID) || len(s.calls) > 0 {
			t.Errorf("Terminate(%q) = %q, %v after %v; want no call", id, how, err, s.calls)
		}
	}
}

var running = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}, Raw: "running", State: reconcile.SandboxRunning}

// The facts of the Worker's answers to a probe, one by one.
func TestProbeVerdicts(t *testing.T) {
	ran, listed := reply{200, js, `{"exit_code":0,"stdout":"","stderr":""}`}, reply{200, js, `{"entries":[{"name":"bin"}]}`}
	for name, test := range map[string]struct {
		exec, files reply
		want        reconcile.ProbeOutcome
		detail      string
	}{
		"both answer":              {ran, listed, reconcile.Answered, "exec: exit 0; files of /: 1 entries"},
		"a command that fails ran": {reply{200, js, `{"exit_code":3}`}, listed, reconcile.Answered, "exit 3"},
		"no process starts":        {reply{200, js, `{"exit_code":-1,"stderr":"fork"}`}, listed, reconcile.CannotStart, "fork"},
		"no exit code":             {reply{200, js, `{"ok":true}`}, listed, reconcile.Infrastructure, "no result"},
		"an empty folder":          {ran, reply{200, js, `{"entries":[]}`}, reconcile.Answered, "0 entries"},
		"no entries":               {ran, reply{200, js, `{}`}, reconcile.Infrastructure, "no file list"},
		"the container takes no command": {reply{502, js, `{"error":"reset","code":"exec_transport_error"}`}, listed,
			reconcile.CannotStart, "502 Bad Gateway: exec_transport_error reset"},
		"the command times out": {reply{504, js, `{"error":"late","code":"timeout"}`}, listed, reconcile.Hung, "504"},
		"the path is gone": {ran, reply{404, js, `{"error":"no such file","code":"no_such_path"}`}, reconcile.CannotStart,
			"404 Not Found: no_such_path no such file"},
		"it does not run": {reply{409, js, `{"error":"x","code":"not_running"}`}, reply{409, js, `{"code":"not_running"}`},
			reconcile.NotAllowed, "409"},
		"the record is gone":               {reply{404, js, `{"error":"x","code":"not_found"}`}, listed, reconcile.Infrastructure, "404"},
		"a Worker without exec":            {reply{404, plain, "404 Not Found"}, listed, reconcile.Infrastructure, "404"},
		"a gateway's 502":                  {reply{502, html, "<html>"}, listed, reconcile.Infrastructure, "502"},
		"a gateway's 504":                  {reply{504, html, "<html>"}, listed, reconcile.Infrastructure, "504"},
		"the Worker breaks":                {reply{500, js, `{"error":"x"}`}, listed, reconcile.Infrastructure, "500"},
		"the Worker has no room":           {reply{503, js, `{"error":"x","code":"capacity_exceeded"}`}, listed, reconcile.Infrastructure, "503"},
		"a refused token":                  {reply{401, js, `{"error":"x"}`}, listed, reconcile.Infrastructure, "401"},
		"a page with status 200":           {reply{200, html, "<html>"}, listed, reconcile.Infrastructure, "200"},
		"one half fails, one is not known": {reply{502, js, `{"error":"reset"}`}, reply{500, js, `{}`}, reconcile.CannotStart, "reset"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := against(t, false, map[string]reply{"GET /sb-1": {200, js, record1}, "POST /sb-1/exec": test.exec,
				"GET /sb-1/files": test.files})
			got := p.Probe(t.Context(), running, reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute})
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("Probe = %s (%s), want %s and %q", got.Outcome, got.Detail, test.want, test.detail)
			}
		})
	}
}

// Nothing is asked of what does not run by now: a careless Worker would start a container.
func TestProbeLooksFirst(t *testing.T) {
	for name, test := range map[string]struct {
		look reply
		want reconcile.ProbeOutcome
	}{
		"it sleeps":          {reply{200, js, `{"id":"sb-1","status":"running","container":"stopped"}`}, reconcile.NotAllowed},
		"its container went": {reply{200, js, `{"id":"sb-1","status":"running","container":"missing"}`}, reconcile.NotAllowed},
		"it is being ended":  {reply{200, js, `{"id":"sb-1","status":"terminating"}`}, reconcile.NotAllowed},
		"an unknown word":    {reply{200, js, `{"id":"sb-1","status":"melting"}`}, reconcile.NotAllowed},
		"it is gone":         {reply{404, js, `{"error":"sandbox not found"}`}, reconcile.Infrastructure},
		"nobody knows":       {reply{500, js, `{}`}, reconcile.Infrastructure},
	} {
		p, s := against(t, false, map[string]reply{"GET /sb-1": test.look})
		got := p.Probe(t.Context(), running, reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute})
		if got.Outcome != test.want || !slices.Equal(s.calls, []string{"GET /sb-1"}) {
			t.Errorf("%s: Probe = %+v after %v, want %s after one look", name, got, s.calls, test.want)
		}
	}
}

// The lines of check, and what mends what they found.
func TestCheckLines(t *testing.T) {
	well := map[string]reply{
		"GET /app":              {200, js, `{"success":true,"result":{"id":"app","name":"boxes","max_instances":50}}`},
		"GET /app/instances-v2": {200, js, `{"success":true,"result":[]}`},
		"GET /list":             {200, js, "[]"}, "GET /stats": {200, js, `{"active":0}`},
		"GET /audit": {200, js, `{"orphaned_records":["a"],"orphaned_actual":[]}`},
	}
	for name, test := range map[string]struct {
		change map[string]reply
		what   string
		ok     bool
		says   string
	}{
		"no token is demanded": {nil, "Worker's token", false, "demand Authorization"},
		"the audit":            {nil, "Worker's audit", true, "1 records without a container, 0 containers"},
		"no audit":             {map[string]reply{"GET /audit": {404, plain, ""}}, "Worker's audit", true, "has none"},
		"counts agree":         {nil, "Worker's counts", true, "0 counted, 0 listed"},
		"counts differ": {map[string]reply{"GET /stats": {200, js, `{"active":1,"provisioning":1,"terminating":1}`}},
			"Worker's counts", false, "3 counted, 0 listed"},
		"no stats":     {map[string]reply{"GET /stats": {404, plain, ""}}, "Worker's counts", true, "no stats"},
		"an odd stats": {map[string]reply{"GET /stats": {200, js, `{}`}}, "Worker's counts", true, "no stats"},
		"records tell of their containers": {map[string]reply{"GET /list": {200, js, `[` + record1 + `,{"id":"b","status":"running","container":"unknown"}]`}},
			"Worker's containers", true, "tell what runs"},
		"no record tells of its container": {map[string]reply{"GET /list": {200, js, `[` + record1 + `]`}},
			"Worker's containers", true, "let the Worker's list tell container"},
		"no record runs":     {map[string]reply{"GET /list": {200, js, `[{"id":"a","status":"failed"}]`}}, "Worker's containers", true, "yet"},
		"the application":    {nil, "application", true, "boxes, about 0 of at most 50"},
		"which halves":       {nil, "halves", true, "control plane and Worker"},
		"a wrong worker_url": {map[string]reply{"GET /list": {200, html, "<html>"}}, "Worker", false, "set worker_url:"},
		"a wrong application": {map[string]reply{"GET /app": {404, js, notFound},
			"GET ": {200, js, `{"success":true,"result":[{"id":"app-9","name":"other"}]}`}}, "application", false,
			"set application: to one of app-9 (other)"},
		"a wrong token": {map[string]reply{"GET /app": {401, js, notFound}}, "application", false, "Workers Containers Read"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]reply{}
			for _, m := range []map[string]reply{well, test.change} {
				for call, a := range m {
					answers[call] = a
				}
			}
			p, _ := against(t, true, answers)
			lines := p.Check(t.Context())
			at := slices.IndexFunc(lines, func(r reconcile.CheckResult) bool { return r.What == test.what })
			if at < 0 || lines[at].OK != test.ok || !strings.Contains(lines[at].Said+" "+lines[at].Fix, test.says) ||
				!lines[at].OK && lines[at].Fix == "" {
				t.Errorf("Check = %+v, want %s, ok %t, with %q", lines, test.what, test.ok, test.says)
			}
		})
	}
}

// Neither credential shows, in whatever an answer repeats it.
func TestSecretsStayInside(t *testing.T) {
	const both = "control-secret and worker-secret"
	p, _ := against(t, true, map[string]reply{"GET /sb-1": {400, js, `{"error":"` + both + `"}`},
		"GET /app/instances-v2": {400, js, `{"errors":[{"message":"` + both + `"}]}`}, "GET /list": {200, js, "[]"}})
	_, err := p.Get(t.Context(), "sb-1")
	_, dark := p.List(t.Context(), func([]reconcile.Sandbox) error { return nil })
	listing, _ := p.List(t.Context(), func([]reconcile.Sandbox) error { return nil })
	said := strings.Join(append(listing.Missing, err.Error()), " ")
	if dark != nil {
		said += dark.Error()
	}
	if strings.Contains(said, "secret") || !strings.Contains(said, "[token]") {
		t.Errorf("errors say %q, want no credential", said)
	}
}

// Who is not asked for a token is asked without one, and nothing else is.
func TestTokensGoToTheirHalf(t *testing.T) {
	seen := map[string]string{}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen[r.URL.Path+"?"+r.URL.RawQuery] = r.Header.Get("Authorization")
		w.Header().Set("Content-Type", js)
		_, _ = io.WriteString(w, `[]`)
	})
	p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test", Token: "control-secret", Extra: map[string]string{
		keyAccount: "acct", keyApplication: "app", keyWorkerURL: "http://worker.test/api", keyWorkerToken: "worker-secret"}},
		entry.Options{Transport: wiretest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.control.read(t.Context())
	_, _ = p.worker.page(t.Context(), "")
	p.worker.checkOpen(t.Context())
	want := map[string]string{"/accounts/acct/containers/applications/app?": "Bearer control-secret",
		"/api/list?limit=1000": "Bearer worker-secret", "/api/list?limit=1": ""}
	for call, token := range want {
		if got, asked := seen[call]; !asked || got != token {
			t.Errorf("%s was sent %q (%t), want %q", call, got, asked, token)
		}
	}
}

// The control plane lists what stopped for months: what is over is not listed here.
func TestListLeavesOutWhatIsOver(t *testing.T) {
	instance := func(name, state string) string {
		return `{"id":"` + name + `-object","name":"` + name + `","status":{"state":"` + state + `"}}`
	}
	p, _ := against(t, true, map[string]reply{
		"GET /list": {200, js, `{"sandboxes":[{"id":"sb-1","status":"running"},{"id":"sb-2","status":"terminated"}]}`},
		"GET /app/instances-v2": {200, js, `{"success":true,"result":[` + strings.Join([]string{instance("sb-1", "running"),
			instance("sb-2", "stopped"), instance("sb-3", "stopped"), instance("sb-4", "unhealthy")}, ",") + `]}`},
	})
	var ids []string
	listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		return nil
	})
	if err != nil || !listing.Complete || !slices.Equal(ids, []string{"sb-1", "sb-4"}) {
		t.Errorf("List = %v, %+v, %v; want what is alive", ids, listing, err)
	}
}

// What goes on inside a sandbox says nothing of the Worker's credential, nor of its limits.
func TestProbeClosesNothing(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusTooManyRequests} {
		p, _ := against(t, false, map[string]reply{"POST /sb-1/exec": {status, js, `{"error":"no"}`}, "GET /sb-1": {200, js, record1}})
		p.Probe(t.Context(), running, reconcile.ProbePolicy{Exec: "true", Timeout: time.Minute})
		if _, err := p.Get(t.Context(), "sb-1"); err != nil {
			t.Errorf("Get after a probe that met %d = %v, want a sandbox", status, err)
		}
	}
}
