package docker

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	id1 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	id2 = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	js  = "application/json"
)

// A reply is one answer of an engine.
type reply struct {
	status     int
	kind, body string
}

func (r reply) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", r.kind)
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

// engineOf is an adapter before canned answers, by method and the end of the path. A call
// that is not among them fails the test.
func engineOf(t *testing.T, answers map[string]reply) *Provider {
	t.Helper()
	return before(t, func(w http.ResponseWriter, r *http.Request) {
		for call, answer := range answers {
			method, path, _ := strings.Cut(call, " ")
			if r.Method == method && strings.HasSuffix(r.URL.Path, path) {
				answer.send(w)
				return
			}
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/stats"): // as a proxy that does not let it through
			reply{403, "text/html", "Forbidden"}.send(w)
			return
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, id1+"/json"):
			reply{200, js, inspected(`{"Status":"running"}`)}.send(w)
			return
		}
		t.Errorf("unexpected call %s %s", r.Method, r.URL)
	})
}

// before is an adapter before a handler, with the pings answered.
func before(t *testing.T, h http.HandlerFunc) *Provider {
	t.Helper()
	p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test", Timeout: 5 * time.Second,
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task"}},
		entry.Options{Transport: wiretest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			if !strings.HasSuffix(r.URL.Path, "/_ping") {
				h(w, r)
			}
		}))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func inspected(state string) string {
	return `{"Id":"` + id1 + `","Name":"/w1","Created":"2026-01-02T03:04:05.6Z","State":` + state +
		`,"Config":{"Image":"bb:2","Labels":{"project":"mine","task":"t1"}}}`
}

// Every word of an engine for a state, in listings and in looks alike.
func TestStates(t *testing.T) {
	for word, want := range map[string]reconcile.SandboxState{
		"created": reconcile.SandboxCreating, "restarting": reconcile.SandboxCreating, "running": reconcile.SandboxRunning,
		"paused": reconcile.SandboxSuspended, "exited": reconcile.SandboxStopped, "dead": reconcile.SandboxFailed,
		"removing": reconcile.SandboxDeleting, "configured": reconcile.SandboxCreating,
		"initialized": reconcile.SandboxCreating, "stopping": reconcile.SandboxSuspended, "stopped": reconcile.SandboxStopped,
		"unknown": reconcile.SandboxUnknown, "Running": reconcile.SandboxUnknown, "": reconcile.SandboxUnknown,
	} {
		p := engineOf(t, map[string]reply{
			"GET /containers/json": {200, js, `[{"Id":"` + id1 + `","State":"` + word + `"}]`},
			"GET " + id1 + "/json": {200, js, inspected(`{"Status":"` + word + `"}`)},
		})
		var listed []reconcile.Sandbox
		_, err := p.List(t.Context(), func(page []reconcile.Sandbox) error { listed = append(listed, page...); return nil })
		if err != nil || len(listed) != 1 || listed[0].State != want || listed[0].Raw != word {
			t.Errorf("%q is listed as %+v, %v; want %q", word, listed, err, want)
		}
		if now := listed[0].UpdatedAt.Equal(listed[0].AsOf); now != (word == "restarting") {
			t.Errorf("%q is listed as changed at %s, want that now only of what comes up again", word, listed[0].UpdatedAt)
		}
		if got, err := p.Get(t.Context(), id1); err != nil || got.State != want || got.Raw != word {
			t.Errorf("%q is seen as %+v, %v; want %q", word, got, err, want)
		}
	}
}

func TestListed(t *testing.T) {
	p := engineOf(t, map[string]reply{"GET /containers/json": {200, js, `[
		{"Id":"` + id2 + `","Names":["/other/alias","/w2"],"Image":"bb:2","Created":1795297230,"State":"running",
		 "Labels":{"project":"mine","task":"t1"},"Ports":[{"odd":1}],"Mounts":null},
		{"Id":"` + id1 + `","Names":null,"Created":1795297229,"State":"exited","Labels":null}]`}})
	var got []reconcile.Sandbox
	l, err := p.List(t.Context(), func(page []reconcile.Sandbox) error { got = append(got, page...); return nil })
	if err != nil || !l.Complete || len(got) != 2 {
		t.Fatalf("List = %+v, %+v, %v", got, l, err)
	}
	if got[0].ID != id1 || got[0].Owned || got[0].Name != "" {
		t.Errorf("first is %+v, want the oldest, not ours and without a name", got[0])
	}
	if s := got[1]; s.Name != "w2" || !s.Owned || s.Task != "t1" || s.Template != "bb:2" || s.CreatedAt.Unix() != 1795297230 {
		t.Errorf("second is %+v, want w2 of task t1", s)
	}
}

// What is no list proves nothing.
func TestNoList(t *testing.T) {
	for name, answer := range map[string]reply{
		"null": {200, js, `null`}, "an object": {200, js, `{}`}, "half of it": {200, js, `[{"Id":"` + id1}, "no id": {200, js, `[{}]`},
		"a page": {200, "text/html", "<html>"}, "nothing": {200, js, ""}, "a redirect": {302, js, ""},
	} {
		l, err := engineOf(t, map[string]reply{"GET /containers/json": answer}).List(t.Context(),
			func([]reconcile.Sandbox) error { return nil })
		if err == nil || l.Complete || errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("List with %s = %+v, %v; want an error", name, l, err)
		}
	}
}

// The reasons of an end, and clocks with the engine's zero.
func TestInspected(t *testing.T) {
	for name, test := range map[string]struct{ state, why, updated string }{
		"running": {`{"Status":"running","Running":true,"StartedAt":"2026-01-02T03:04:06Z","FinishedAt":"0001-01-01T00:00:00Z"}`,
			"", "2026-01-02T03:04:06Z"},
		"out of memory": {`{"Status":"exited","OOMKilled":true,"ExitCode":137,"StartedAt":"2026-01-02T03:04:06Z",
			"FinishedAt":"2026-01-02T03:05:00Z"}`, "killed: out of memory (exit 137)", "2026-01-02T03:05:00Z"},
		"an exit":          {`{"Status":"exited","ExitCode":3}`, "exit 3", ""},
		"a good end":       {`{"Status":"exited"}`, "", ""},
		"a failed start":   {`{"Status":"created","ExitCode":127,"Error":"no such file"}`, "no such file", ""},
		"no state":         {`null`, "", ""},
		"odd clocks":       {`{"Status":"running","Running":true,"StartedAt":"soon"}`, "", ""},
		"a restart's code": {`{"Status":"restarting","Running":true,"ExitCode":1}`, "", ""},
	} {
		s, err := engineOf(t, map[string]reply{"GET " + id1 + "/json": {200, js, inspected(test.state)}}).Get(t.Context(), id1)
		updated := ""
		if !s.UpdatedAt.IsZero() {
			updated = s.UpdatedAt.Format(time.RFC3339)
		}
		if err != nil || s.Error != test.why || updated != test.updated || s.Name != "w1" || s.Template != "bb:2" ||
			s.CreatedAt.Nanosecond() != 6e8 {
			t.Errorf("%s: %+v, %v; want %q, changed %s", name, s, err, test.why, test.updated)
		}
	}
}

// Only the words of an absent container are gone; nothing else is, with the same status.
func TestGone(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		want   error // nil: none of the sentinels
	}{
		"docker": {reply{404, js, `{"message":"No such container: x"}`}, reconcile.ErrNotFound},
		"podman": {reply{404, js, `{"cause":"no such container","message":"no container with name or ID \"x\" found: no such container","response":404}`},
			reconcile.ErrNotFound},
		"with a charset":    {reply{404, js + "; charset=utf-8", `{"message":"No such container: x"}`}, reconcile.ErrNotFound},
		"no such page":      {reply{404, js, `{"message":"page not found"}`}, nil},
		"a gateway's page":  {reply{404, "text/html", "No such container"}, nil},
		"no words":          {reply{404, js, ""}, nil},
		"a 410":             {reply{410, js, `{"message":"No such container: x"}`}, nil},
		"a proxy's refusal": {reply{403, "text/html", "<html>Forbidden"}, reconcile.ErrUnauthorized},
		"a plugin's":        {reply{401, js, `{"message":"authorization denied by plugin"}`}, reconcile.ErrUnauthorized},
		"a limit":           {reply{429, js, `{"message":"slow"}`}, reconcile.ErrThrottled},
		"an error":          {reply{500, js, `{"message":"No such container: x"}`}, nil},
		"another one":       {reply{200, js, strings.ReplaceAll(inspected(`{"Status":"running"}`), id1, id2)}, nil},
		"one of that name":  {reply{200, js, `{"Id":"` + id2 + `","Name":"/` + id1 + `"}`}, reconcile.ErrNotFound},
		"no container":      {reply{200, js, `{}`}, nil},
	} {
		_, err := engineOf(t, map[string]reply{"GET " + id1 + "/json": test.answer}).Get(t.Context(), id1)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		for _, sentinel := range []error{reconcile.ErrNotFound, reconcile.ErrUnauthorized, reconcile.ErrThrottled} {
			if is := errors.Is(err, sentinel); is != errors.Is(test.want, sentinel) {
				t.Errorf("%s: %v, is %q %t", name, err, sentinel, is)
			}
		}
	}
}

// A short id or a name would find whatever begins so, and dots another path. Rows of another
// provider hold what the engine finds nothing by, and that is not here.
func TestOnlyFullIDs(t *testing.T) {
	found, none := reply{200, js, inspected(`{"Status":"running"}`)}, reply{404, js, `{"message":"No such container: x"}`}
	for name, test := range map[string]struct {
		id     string
		answer reply
		gone   bool
	}{
		"the beginning of an id":      {id1[:12], found, false},
		"a name":                      {"w1", found, false},
		"another provider's id":       {"stopk", none, true},
		"its uuid":                    {"0f6a2c1e-0000-4000-8000-00000000cf10", none, true},
		"longer than an id":           {id1 + "a", none, true},
		"an id in other letters":      {strings.Repeat("A", 64), none, true},
		"the engine is ill":           {"stopk", reply{500, js, `{"message":"no"}`}, false},
		"a proxy's page":              {"stopk", reply{404, "text/html", "<html>"}, false},
		"a proxy's refusal":           {"stopk", reply{403, "text/html", "<html>"}, false},
		"another path":                {"../" + id1[3:], reply{}, true},
		"another path below":          {id1[:63] + "/", reply{}, true},
		"a Pod's id, with a stranger": {"pod/x?y", reply{}, true},
		"nothing":                     {"", reply{}, false},
		"dots":                        {"..", reply{}, false},
	} {
		answers := map[string]reply{}
		if test.answer.status != 0 {
			answers["GET /"+test.id+"/json"] = test.answer
		}
		p := engineOf(t, answers)
		if _, err := p.Get(t.Context(), test.id); err == nil || errors.Is(err, reconcile.ErrNotFound) != test.gone {
			t.Errorf("%s: Get(%q) = %v, want an error, gone %t", name, test.id, err, test.gone)
		}
		if how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: test.id}}); how != "" || err == nil {
			t.Errorf("%s: Terminate(%q) = %q, %v; want an error", name, test.id, how, err)
		}
		s := reconcile.Sandbox{Ref: reconcile.Ref{ID: test.id}, State: reconcile.SandboxRunning}
		if got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true"}); got.Outcome != reconcile.Infrastructure {
			t.Errorf("%s: Probe(%q) = %+v, want nothing known", name, test.id, got)
		}
	}
}

// Every wording of a delete's answer.
func TestTerminations(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		want   reconcile.Termination
		fails  bool
	}{
		"done":             {reply{204, "", ""}, reconcile.TerminateDone, false},
		"gone meanwhile":   {reply{404, js, `{"message":"No such container: x"}`}, reconcile.TerminateGone, false},
		"under way":        {reply{409, js, `{"message":"removal of container x is already in progress"}`}, reconcile.TerminateAccepted, false},
		"refused":          {reply{409, js, `{"message":"container is zombie"}`}, reconcile.TerminateRefused, true},
		"a bad request":    {reply{400, js, `{"message":"bad"}`}, reconcile.TerminateRefused, true},
		"another version":  {reply{400, js, `{"message":"client version 1.41 is too new. Maximum is 1.40"}`}, "", true},
		"could not kill":   {reply{500, js, `{"message":"could not kill: tried to kill container, but did not receive an exit event"}`}, "", true},
		"a wrong address":  {reply{404, js, `{"message":"page not found"}`}, "", true},
		"a page":           {reply{200, "text/html", "<html>"}, "", true},
		"denied":           {reply{403, js, `{"message":"no"}`}, "", true},
		"podman's refusal": {reply{500, js, `{"cause":"container state improper","message":"x","response":500}`}, "", true},
	} {
		p := engineOf(t, map[string]reply{
			"GET " + id1 + "/json":      {200, js, inspected(`{"Status":"running"}`)},
			"DELETE /containers/" + id1: test.answer,
		})
		how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: id1}, Owned: true, Task: "t1"})
		if how != test.want || (err != nil) != test.fails {
			t.Errorf("%s: Terminate = %q, %v; want %q", name, how, err, test.want)
		}
	}
}

// A delete is forced, and takes the unnamed volumes with it; a listing asks for all.
func TestAsks(t *testing.T) {
	var asked []string
	p := before(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+"?"+r.URL.Query().Encode())
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case strings.HasSuffix(r.URL.Path, id1+"/json"):
			reply{200, js, inspected(`{"Status":"running"}`)}.send(w)
		default:
			reply{200, js, `[]`}.send(w)
		}
	})
	if how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: id1}, Owned: true, Task: "t1"}); err != nil {
		t.Errorf("Terminate = %s, %v", how, err)
	}
	if _, err := p.Find(t.Context(), "t=1"); err != nil {
		t.Errorf("Find = %v", err)
	}
	for i, want := range []string{
		"GET /v1.41/containers/" + id1 + "/json?", "DELETE /v1.41/containers/" + id1 + "?force=1&v=1",
		"GET /v1.41/containers/json?all=1&filters=",
	} {
		if i >= len(asked) || !strings.HasPrefix(asked[i], want) {
			t.Errorf("call %d of %q, want %s", i, asked, want)
		}
	}
	if last := asked[len(asked)-1]; !strings.Contains(last, "task%3Dt%3D1") || !strings.Contains(last, "project%3Dmine") {
		t.Errorf("Find asked %s, want both labels", last)
	}
}

// An engine that was replaced by an older one is asked anew which version it speaks.
func TestVersionIsAgreedOnAgain(t *testing.T) {
	version := "1.51"
	calls := map[string]int{}
	p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test"}, entry.Options{
		Transport: wiretest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", version)
			calls[r.URL.Path]++
			switch {
			case strings.HasSuffix(r.URL.Path, "/_ping"):
			case !strings.HasPrefix(r.URL.Path, "/v"+version+"/"):
				reply{400, js, `{"message":"client version 1.51 is too new. Maximum supported API version is 1.41"}`}.send(w)
			default:
				reply{200, js, inspected(`{"Status":"running"}`)}.send(w)
			}
		}))})
	if err != nil {
		t.Fatal(err)
	}
	for i, good := range []bool{true, true, false, true} {
		if i == 2 {
			version = "1.41"
		}
		if _, err := p.Get(t.Context(), id1); (err == nil) != good {
			t.Errorf("Get %d = %v, want it well %t", i, err, good)
		}
	}
	if calls["/_ping"] != 2 || calls["/v1.41/containers/"+id1+"/json"] != 1 {
		t.Errorf("calls were %v, want a ping before each version", calls)
	}
}

// What went wrong with a connection is said in few words, without the address of the call.
func TestLostConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Api-Version", "1.41"); !strings.HasSuffix(r.URL.Path, "/_ping") {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	p, err := New(entry.Entry{Name: "lab", URL: server.URL}, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), id1); err == nil || strings.Contains(err.Error(), "/containers/") ||
		!strings.Contains(err.Error(), "EOF") {
		t.Errorf("Get over a connection that is lost = %v, want why and no address", err)
	}
}

// Where nothing tells a version, no call is made at a guess.
func TestNoEngine(t *testing.T) {
	for name, test := range map[string]struct {
		ping reply
		want error
	}{
		"a page": {reply{200, "text/html", "<html>"}, wire.ErrNotAPI}, "a refusal": {reply{401, js, `{}`}, reconcile.ErrUnauthorized},
		"a proxy's": {reply{403, "text/html", "no"}, reconcile.ErrUnauthorized}, "a limit": {reply{429, js, `{}`}, reconcile.ErrThrottled},
		"an error": {reply{500, js, `{"message":"no"}`}, nil}, "nothing there": {reply{404, "text/plain", "404"}, nil},
	} {
		paths := map[string]bool{}
		p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test"}, entry.Options{
			Transport: wiretest.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paths[r.URL.Path] = true
				test.ping.send(w)
			}))})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Get(t.Context(), id1)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || errors.Is(err, reconcile.ErrNotFound) || len(paths) != 1 {
			t.Errorf("%s: Get = %v after %v; want %v after pings alone", name, err, paths, test.want)
		}
		if lines := p.Check(t.Context()); len(lines) != 1 || lines[0].OK || lines[0].Fix == "" {
			t.Errorf("%s: Check = %+v, want a fix", name, lines)
		}
	}
}

// Where a folder lies, by how the container was made.
func TestDiskOf(t *testing.T) {
	c := &container.InspectResponse{HostConfig: &container.HostConfig{ReadonlyRootfs: true,
		Tmpfs: map[string]string{"/tmp": "size=1m", "/run": "ro"}},
		Mounts: []container.MountPoint{{Destination: "/workspace", RW: true, Type: "bind"},
			{Destination: "/workspace/fast/", RW: true, Type: "tmpfs"}, {Destination: "/data", Type: "volume"}}}
	for folder, want := range map[string]disk{
		"/": {true, false}, "/etc": {true, false}, "/workspace": {false, false}, "/workspace/x/": {false, false},
		"/workspace/fast": {false, true}, "/workspace/fast/y": {false, true}, "/workspaces": {true, false},
		"/tmp/a": {false, true}, "/run": {true, true}, "/data": {true, false},
	} {
		if got := diskOf(c, folder); got != want {
			t.Errorf("diskOf(%s) = %+v, want %+v", folder, got, want)
		}
	}
	c = &container.InspectResponse{HostConfig: &container.HostConfig{StorageOpt: map[string]string{"size": "1G"}}}
	if got := diskOf(c, "/"); got != (disk{false, true}) {
		t.Errorf("diskOf a root with a size = %+v, want it its own", got)
	}
}

// What the engine's client says of its own must not be lost on the way.
func TestClientIsTheOneOfMoby(t *testing.T) {
	p := engineOf(t, map[string]reply{"GET " + id1 + "/json": {200, js, inspected(`{"Status":"running"}`)}})
	if _, err := p.Get(t.Context(), id1); err != nil {
		t.Fatal(err)
	}
	if c := p.engine.Load(); c == nil || c.ClientVersion() != "1.41" || client.MaxAPIVersion == "1.41" {
		t.Errorf("the client is %+v, want one that agreed on 1.41", c)
	}
}

// While a command hangs the engine does not answer for that container. The list that it
// gives still shows it; that it is not listed proves nothing.
func TestLookPastAHungInspect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		list string
		want reconcile.SandboxState
		err  string
	}{
		"it is listed": {`[{"Id":"` + id1 + `","State":"running","Labels":{"project":"mine"}}]`, reconcile.SandboxRunning, ""},
		"it is not":    {`[]`, "", "no answer within"},
		"another one":  {`[{"Id":"` + id2 + `","State":"running"}]`, "", "no answer within"},
		"no list":      {`{}`, "", "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := before(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, id1+"/json") {
					<-r.Context().Done()
					return
				}
				if want := `{"id":["` + id1 + `"]}`; r.URL.Query().Get("filters") != want {
					t.Errorf("listed by %s, want %s", r.URL.Query().Get("filters"), want)
				}
				reply{200, js, test.list}.send(w)
			})
			s, err := p.Get(t.Context(), id1)
			if test.err == "" && (err != nil || s.State != test.want || !s.Owned) ||
				test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || errors.Is(err, reconcile.ErrNotFound)) {
				t.Errorf("Get = %+v, %v; want %s, %q", s, err, test.want, test.err)
			}
		})
	}
}
