package e2b

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var policy = reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Second}

// framed is a stream of frames: an even place holds the flag, an odd one the text.
func framed(parts ...string) string {
	var b []byte
	for i := 0; i+1 < len(parts); i += 2 {
		flag := byte(0)
		if parts[i] == "end" {
			flag = last
		}
		b = append(binary.BigEndian.AppendUint32(append(b, flag), uint32(len(parts[i+1]))), parts[i+1]...)
	}
	return string(b)
}

func streamed(parts ...string) reply { return reply{200, stream, framed(parts...), nil} }

var (
	ranWell = streamed("", `{"event":{"start":{"pid":1}}}`, "", `{"event":{"end":{"exited":true,"status":"exit status 0"}}}`,
		"end", `{}`)
	listed1 = reply{200, js, `{"entries":[{"name":"bin"}]}`, nil}
)

const (
	execPath  = "POST /process.Process/Start"
	filesPath = "POST /filesystem.Filesystem/ListDir"
)

// The facts of the daemon's answers, and of those of the proxy before it, one by one. The
// sandbox runs all the while.
func TestProbeVerdicts(t *testing.T) {
	refused := func(code, words string) reply {
		return streamed("", `{"event":{"start":{"pid":1}}}`, "end", `{"error":{"code":"`+code+`","message":"`+words+`"}}`)
	}
	noStart := func(why string) reply { return refused("invalid_argument", "error starting process '/bin/bash': "+why) }
	coded := func(status int, body string) reply { return reply{status, js, body, nil} }
	closed := coded(502, `{"sandboxId":"i1","message":"The sandbox is running but port is not open","port":49983,"code":502}`)
	lost := coded(502, `{"sandboxId":"i1","message":"The sandbox was not found","code":502}`)
	for name, test := range map[string]struct {
		exec, files reply
		want        reconcile.ProbeOutcome
		detail      string
	}{
		"both answer": {ranWell, listed1, reconcile.Answered, "exec: exit 0; files of /: 1 entries"},
		"a command that fails ran": {
			streamed("", `{"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3","error":"exit status 3"}}}`, "end", `{}`),
			listed1, reconcile.Answered, "exit 3",
		},
		"with output and signs of life between": {
			streamed("", `{"event":{"start":{"pid":1}}}`, "", `{"event":{"keepalive":{}}}`, "", `{"event":{"data":{"stdout":"b2sK"}}}`,
				"", `{"event":{"end":{"exited":true}}}`, "end", `{}`), listed1, reconcile.Answered, "exit 0",
		},
		"killed by a signal": {
			streamed("", `{"event":{"end":{"exitCode":-1,"status":"signal: killed","error":"signal: killed"}}}`, "end", `{}`),
			listed1, reconcile.CannotStart, "exit -1: signal: killed",
		},
		"killed, without a code": {streamed("", `{"event":{"end":{"status":"signal: killed"}}}`, "end", `{}`), listed1,
			reconcile.CannotStart, "signal: killed"},
		"the command times out": {refused("deadline_exceeded", "context deadline exceeded"), listed1, reconcile.Hung,
			"deadline_exceeded"},
		"no process starts": {noStart("fork/exec /bin/bash: input/output error"), listed1, reconcile.CannotStart, "fork/exec"},
		"a template without bash": {noStart("fork/exec /bin/bash: no such file or directory"), listed1,
			reconcile.Infrastructure, `where the template has no /bin/bash, set probe: {exec: ""}`},
		"a template without bash, in other words": {refused("internal", "exec: '/bin/bash': executable file not found in $PATH"),
			listed1, reconcile.Infrastructure, "no /bin/bash"},
		"no bash, and the file system is gone": {noStart("fork/exec /bin/bash: no such file or directory"),
			coded(404, `{"code":"not_found","message":"path not found"}`), reconcile.CannotStart, "files of /: 404 not found"},
		"no process to be had":        {refused("resource_exhausted", "fork: retry"), listed1, reconcile.CannotStart, "fork"},
		"the folder is gone":          {refused("invalid_argument", "cwd '/' does not exist"), listed1, reconcile.CannotStart, "cwd"},
		"the daemon broke":            {refused("internal", "boom"), listed1, reconcile.CannotStart, "internal: boom"},
		"the token is of another":     {refused("unauthenticated", "no"), listed1, reconcile.Infrastructure, "unauthenticated"},
		"we left":                     {refused("canceled", "x"), listed1, reconcile.Infrastructure, "canceled"},
		"a word that is new":          {refused("melted", "x"), listed1, reconcile.Infrastructure, "melted"},
		"half a stream":               {streamed("", `{"event":{"end":{"exited":true}}}`), listed1, reconcile.Infrastructure, "half of one"},
		"a stream without the end":    {streamed("end", `{}`), listed1, reconcile.Infrastructure, "without the command's end"},
		"a stream that is none":       {coded(200, `{"ok":true}`), listed1, reconcile.Infrastructure, "no stream"},
		"a page":                      {reply{200, "text/html", "<html>", nil}, listed1, reconcile.Infrastructure, "no stream"},
		"port is not open":            {closed, listed1, reconcile.CannotStart, "exec: 502 Bad Gateway: The sandbox is running but"},
		"was not found, and it runs":  {lost, lost, reconcile.CannotStart, "The sandbox was not found"},
		"a 502 of a balancer":         {reply{502, "text/html", "<html>", nil}, listed1, reconcile.Infrastructure, "502"},
		"a 502 without words":         {reply{502, "", "", nil}, listed1, reconcile.Infrastructure, "502"},
		"a 503 of the proxy":          {coded(503, `{"code":503,"message":"x"}`), listed1, reconcile.Infrastructure, "503"},
		"a 504 of the proxy":          {coded(504, `{"code":504,"message":"x"}`), listed1, reconcile.Infrastructure, "504"},
		"still transitioning":         {coded(409, `{"code":409,"message":"The sandbox is still transitioning."}`), listed1, reconcile.Infrastructure, "409"},
		"the token was refused":       {coded(401, `{"code":401,"message":"unauthorized access"}`), listed1, reconcile.Infrastructure, "401"},
		"traffic was refused":         {coded(403, `{"code":403,"message":"x"}`), listed1, reconcile.Infrastructure, "403"},
		"too many connections":        {coded(429, `{"code":429,"message":"too many"}`), listed1, reconcile.Infrastructure, "429"},
		"no file to be had":           {ranWell, coded(429, `{"code":"resource_exhausted","message":"too many open files"}`), reconcile.CannotStart, "too many open files"},
		"the file system is gone":     {ranWell, coded(404, `{"code":"not_found","message":"path not found"}`), reconcile.CannotStart, "files of /: 404 not found"},
		"the daemon breaks at files":  {ranWell, coded(500, `{"code":"internal","message":"input/output error"}`), reconcile.CannotStart, "input/output"},
		"an old daemon breaks":        {ranWell, coded(500, `{"code":500,"message":"error"}`), reconcile.CannotStart, "500"},
		"files take too long inside":  {ranWell, coded(504, `{"code":"deadline_exceeded","message":"x"}`), reconcile.Hung, "504"},
		"the path is a file":          {ranWell, coded(400, `{"code":"invalid_argument","message":"path is not a directory"}`), reconcile.Infrastructure, "400"},
		"a 404 of a gateway":          {ranWell, reply{404, "text/html", "<html>", nil}, reconcile.Infrastructure, "404"},
		"a 404 in numbers":            {ranWell, coded(404, `{"code":404,"message":"not found"}`), reconcile.Infrastructure, "404"},
		"an empty folder":             {ranWell, coded(200, " {}\n"), reconcile.Answered, "0 entries"},
		"files that are none":         {ranWell, coded(200, `{"ok":true}`), reconcile.Infrastructure, "no file list"},
		"files that are a page":       {ranWell, reply{200, "text/html", "<html>", nil}, reconcile.Infrastructure, "no file list"},
		"one fails, one says nothing": {closed, reply{404, "text/html", "<html>", nil}, reconcile.CannotStart, "port is not open"},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		l.says[execPath], l.says[filesPath] = test.exec, test.files
		got := l.Probe(t.Context(), s, policy)
		if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) {
			t.Errorf("%s: Probe = %+v, want %s: %s", name, got, test.want, test.detail)
		}
	}
}

// While commands run, a folder that is not there may have been moved by its user.
func TestProbeOfAMovedFolder(t *testing.T) {
	for path, want := range map[string]reconcile.ProbeOutcome{"/": reconcile.CannotStart, "/workspace": reconcile.Infrastructure} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		l.says[execPath] = ranWell
		l.says[filesPath] = reply{404, js, `{"code":"not_found","message":"path not found: stat: no such file or directory"}`, nil}
		if got := l.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true", Path: path, Timeout: time.Second}); got.Outcome != want {
			t.Errorf("Probe of %s = %+v, want %s", path, got, want)
		}
	}
}

// What is asked inside: in the vendor's form, with the sandbox's own token, without the key.
func TestProbeAsks(t *testing.T) {
	l := newLab(t)
	s := l.put(simulated.Sandbox{})
	if got := l.Probe(t.Context(), s, policy); got.Outcome != reconcile.Answered {
		t.Fatalf("Probe = %+v", got)
	}
	asked := map[string]*http.Request{}
	for _, r := range l.seen {
		asked[r.Method+" "+r.URL.Path] = r
	}
	for path, kind := range map[string]string{execPath: stream, filesPath: js} {
		r := asked[path]
		if r == nil {
			t.Fatalf("%s was not asked", path)
		}
		h := r.Header
		if h.Get("X-API-Key") != "" || h.Get("Authorization") != "" || strings.Contains(fmt.Sprint(h), "s3cret") {
			t.Errorf("%s was told the key: %v", path, h)
		}
		if h.Get("E2b-Sandbox-Id") != s.ID || h.Get("E2b-Sandbox-Port") != port || len(h.Get("X-Access-Token")) != 64 ||
			h.Get("Connect-Protocol-Version") != "1" || h.Get("Content-Type") != kind {
			t.Errorf("%s was asked with %v", path, h)
		}
	}
	if limit := asked[execPath].Header.Get("Connect-Timeout-Ms"); limit != "1000" {
		t.Errorf("Connect-Timeout-Ms = %q, want 1000: nothing else ends the command", limit)
	}
	body, _ := io.ReadAll(asked[execPath].Body)
	_, whole := frames(append(body, framed("end", "{}")...))
	var in struct {
		Process struct {
			Cmd  string
			Args []string
			Cwd  string
		}
	}
	if err := json.Unmarshal(body[head:], &in); err != nil || !whole || in.Process.Cmd != "/bin/bash" ||
		fmt.Sprint(in.Process.Args) != "[-l -c true]" || in.Process.Cwd != "/" {
		t.Errorf("exec = %q, %v", body, err)
	}
}

// Daemons before 0.4 must be told their user.
func TestOldEnvd(t *testing.T) {
	for version, old := range map[string]bool{
		"0.3.9": true, "0.1": true, "v0.2.4": true, "0.4.0": false, "0.5.8": false, "1.0.0": false, "v1.0.0": false, "": false,
		"0.x": false, "dev": false,
	} {
		if got := oldEnvd(version); got != old {
			t.Errorf("oldEnvd(%q) = %t, want %t", version, got, old)
		}
	}
	l := newLab(t)
	s := l.put(simulated.Sandbox{})
	l.says["GET /sandboxes/"+s.ID] = reply{200, js, `{"sandboxID":"` + s.ID + `","state":"running","envdVersion":"0.3.0"}`, nil}
	l.Probe(t.Context(), s, policy)
	for _, r := range l.seen {
		if user, _, ok := r.BasicAuth(); strings.Contains(r.URL.Path, "rocess") && (!ok || user != "user") {
			t.Errorf("%s was asked without a user", r.URL)
		}
	}
}

// The trap: a call into a paused sandbox wakes it, if it was made so. Whatever a listing said
// of it before, a probe never does.
func TestProbeWakesNothing(t *testing.T) {
	l := newLab(t)
	s := l.put(simulated.Sandbox{ExpiresAt: l.clock.Now().Add(time.Hour)})
	l.vendor.Live(s.ID, e2btest.Lifecycle{Pauses: true, AutoResume: true}, l.clock.Now().Add(time.Hour))
	if _, err := l.world.Pause(s.ID); err != nil {
		t.Fatal(err)
	}
	for name, stale := range map[string]reconcile.Sandbox{
		"as a listing saw it before": s,
		"as it is":                   l.put(simulated.Sandbox{State: reconcile.SandboxSuspended}),
	} {
		l.world.ResetCalls()
		if got := l.Probe(t.Context(), stale, policy); got.Outcome != reconcile.NotAllowed || !strings.Contains(got.Detail, "paused") {
			t.Errorf("Probe %s = %+v, want not-allowed", name, got)
		}
		for _, c := range l.world.Calls() {
			if c.Kind != simulated.Get {
				t.Errorf("Probe %s made %+v", name, c)
			}
		}
	}
	if now, _ := l.world.Sandbox(s.ID); now.State != reconcile.SandboxSuspended {
		t.Errorf("it is %s, want it paused", now.State)
	}
	// And the trap is there: any other call does wake it.
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://lab.test/health", nil)
	req.Header.Set("E2b-Sandbox-Id", s.ID)
	if _, err := (transport{l}).RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if now, _ := l.world.Sandbox(s.ID); now.State != reconcile.SandboxRunning {
		t.Errorf("it is %s, want it awake: the simulator has lost the trap", now.State)
	}
}

// One that may wake is not called when it could be paused in that moment. The end of what a
// probe may take, 13 s here, is the boundary.
func TestProbeNearTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		life   string // the lifecycle on the wire; "" when the server has none
		ends   time.Duration
		called bool
	}{
		"may wake, a moment left":      {`{"autoResume":true,"onTimeout":"pause"}`, 12 * time.Second, false},
		"may wake, its time is over":   {`{"autoResume":true,"onTimeout":"pause"}`, -time.Minute, false},
		"may wake, enough left":        {`{"autoResume":true,"onTimeout":"pause"}`, 13 * time.Second, true},
		"never wakes, a moment left":   {`{"autoResume":false,"onTimeout":"pause"}`, time.Second, true},
		"nobody knows, a moment left":  {"", 12 * time.Second, false},
		"nobody knows, enough left":    {"", 13 * time.Second, true},
		"nobody knows when it ends":    {"", 0, true},
		"calls put its end off":        {`{"autoResume":false,"keepalive":{"traffic":{"enabled":true}}}`, time.Hour, false},
		"calls do not put its end off": {`{"autoResume":false,"keepalive":{"traffic":{"enabled":false}}}`, time.Hour, true},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		body := map[string]any{"sandboxID": s.ID, "state": "running", "envdAccessToken": "x"}
		if test.ends != 0 {
			body["endAt"] = l.clock.Now().Add(test.ends)
		}
		if test.life != "" {
			body["lifecycle"] = json.RawMessage(test.life)
		}
		text, _ := json.Marshal(body)
		l.says["GET /sandboxes/"+s.ID] = reply{200, js, string(text), nil}
		l.says[execPath], l.says[filesPath] = ranWell, listed1
		want := reconcile.NotAllowed
		if test.called {
			want = reconcile.Answered
		}
		if got := l.Probe(t.Context(), s, policy); got.Outcome != want {
			t.Errorf("%s: Probe = %+v, want %s", name, got, want)
		}
	}
}

// A failure counts only against a sandbox that still runs after it.
func TestProbeLooksAgain(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(*lab, string)
		want      reconcile.ProbeOutcome
		detail    string
	}{
		"it runs on": {func(*lab, string) {}, reconcile.CannotStart, "port is not open"},
		"it was paused": {func(l *lab, id string) { _, _ = l.world.Pause(id) }, reconcile.NotAllowed,
			"it is paused (exec: 502"},
		"it was killed": {func(l *lab, id string) { _, _ = l.world.Destroy(id) }, reconcile.NotAllowed, "it is gone (exec: 502"},
		"nobody can tell": {func(l *lab, _ string) {
			l.world.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: 500})
		}, reconcile.Infrastructure, "get: 500"},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		dead := reply{502, js, `{"message":"The sandbox is running but port is not open","code":502}`, nil}
		l.says[filesPath] = dead
		l.says[execPath] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			test.meanwhile(l, s.ID)
			dead.ServeHTTP(w, r)
		})
		got := l.Probe(t.Context(), s, policy)
		if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) {
			t.Errorf("%s: Probe = %+v, want %s: %s", name, got, test.want, test.detail)
		}
	}
}

// What a sandbox says goes to the page and into logs. Its token does not, nor a part of it
// where the text is cut.
func TestProbeKeepsSecrets(t *testing.T) {
	for _, before := range []int{0, 150 - len("exec: 500 Internal Server Error: internal ")} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		token := ""
		l.says[filesPath] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token = r.Header.Get("X-Access-Token")
			reply{500, js, `{"code":"internal","message":"` + strings.Repeat("x", before) + token + ` is no token"}`, nil}.ServeHTTP(w, r)
		})
		got := l.Probe(t.Context(), s, policy)
		if got.Outcome != reconcile.CannotStart || len(token) < 6 || strings.Contains(got.Detail, token[:6]) ||
			!strings.Contains(got.Detail, "***") {
			t.Errorf("Probe = %+v, want no part of token %s", got, token)
		}
	}
}

// Where the sandboxes are not known, nothing is said of them.
func TestProbeWithoutAnAddress(t *testing.T) {
	l := newLab(t, func(e *entry.Entry) { e.Extra = nil })
	got := l.Probe(t.Context(), l.put(simulated.Sandbox{}), policy)
	if got.Outcome != reconcile.Infrastructure || !strings.Contains(got.Detail, "set domain: or sandbox_url:") {
		t.Errorf("Probe = %+v, want infrastructure, and what to set", got)
	}
}

// Whatever a stream holds, it is read without harm, and only a whole one counts.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{ranWell.body, framed("end", "{}"), framed("", "{}"), "", "\x00\x00\x00\x00", "\x02\xff\xff\xff\xff{}",
		framed("end", `{"error":{"code":"internal"}}`), framed("", `{"event":{"end":{"exitCode":-1}}}`, "end", "{}"),
		"\x01\x00\x00\x00\x02{}\x02\x00\x00\x00\x02{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, whole := frames(body)
		h, ok := executed(answerOf(body), saidNothing)
		if !ok || h.Outcome == "" || h.Words == "" && h.Outcome != reconcile.Answered {
			t.Errorf("executed = %+v, %t; want a verdict", h, ok)
		}
		if !whole && h.Outcome != reconcile.Infrastructure {
			t.Errorf("half a stream = %+v, want nothing known", h)
		}
	})
}

// A probe that waits long for its turn in the rate knows too little of the sandbox by then.
func TestProbeThatWaitedTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		var turns atomic.Int32
		p, err := New(l.entry, entry.Options{Transport: wiretest.Transport(l), Now: l.clock.Now,
			Turn: func(ctx context.Context) error {
				if turns.Add(1) == 1 { // the get
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}})
		if err != nil {
			t.Fatal(err)
		}
		l.world.ResetCalls()
		began := time.Now()
		got := p.Probe(t.Context(), s, policy)
		if took := time.Since(began); got.Outcome != reconcile.Infrastructure || took != 8*time.Second {
			t.Errorf("Probe after %s = %+v, want nothing known after 8 s", took, got)
		}
		if calls := l.world.Calls(); len(calls) != 1 {
			t.Errorf("it made %v, want the get alone", calls)
		}
	})
}
