package daytona

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var running = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}, Raw: "started",
	State: reconcile.SandboxRunning, Endpoint: "http://lab.test/toolbox"}

var both = reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: 5 * time.Second}

// A reply is one answer of the toolbox.
type reply struct {
	status int
	kind   string
	body   string
}

func (r reply) send(w http.ResponseWriter) {
	if r.kind != "" {
		w.Header().Set("Content-Type", r.kind)
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

const js = "application/json"

var (
	ranWell = reply{200, js, `{"exitCode":0,"result":""}`}
	listed1 = reply{200, js, `[{"name":"bin"}]`}
)

// The facts of the toolbox's answers, one by one.
func TestProbeVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		exec, files reply
		want        reconcile.ProbeOutcome
		detail      string
	}{
		"both answer": {
			ranWell, listed1, reconcile.Answered, "exec: exit 0; files of /: 1 entries",
		},
		"a command that fails ran": {
			reply{200, js, `{"exitCode":3,"result":"ok"}`}, listed1, reconcile.Answered, "exit 3",
		},
		"no exit code, but a result": {
			reply{200, js, `{"result":"ok"}`}, listed1, reconcile.Answered, "exec: ended",
		},
		"an empty folder": {ranWell, reply{200, js, `[]`}, reconcile.Answered, "0 entries"},
		"cannot fork": {
			reply{200, js, `{"exitCode":-1,"result":"fork/exec /usr/bin/bash: no such file"}`}, listed1,
			reconcile.CannotStart, "exit -1: fork/exec",
		},
		"502 without a body": {
			reply{502, "", ""}, listed1, reconcile.CannotStart, "exec: 502 Bad Gateway; files of /: 1 entries",
		},
		"502 of both": {
			reply{502, "", ""}, reply{502, "", ""}, reconcile.CannotStart,
			"exec: 502 Bad Gateway; files of /: 502 Bad Gateway",
		},
		"500": {
			reply{500, js, `{"message":"boom"}`}, listed1, reconcile.CannotStart,
			"500 Internal Server Error: boom",
		},
		"a page with status 503": {
			reply{503, "text/html", "<html>"}, listed1, reconcile.CannotStart, "503",
		},
		"408 of the command": {
			reply{408, js, `{"message":"command execution timeout"}`}, listed1, reconcile.Hung,
			"command execution timeout",
		},
		"cannot start counts before hung": {reply{408, js, `{}`}, reply{502, "", ""}, reconcile.CannotStart, "408"},
		"a failure counts before a limit": {reply{502, "", ""}, reply{429, js, `{}`}, reconcile.CannotStart, "429"},
		"the container vanished": {
			reply{404, js, `{"message":"not found: sandbox container not found"}`}, listed1,
			reconcile.CannotStart, "container not found",
		},
		"the path is gone, old toolbox": {
			ranWell, reply{404, "", ""}, reconcile.CannotStart, "files of /: 404 not found",
		},
		"the path is gone, new toolbox": {
			ranWell, reply{404, js, `{"code":"FILE_NOT_FOUND","message":"no such file"}`}, reconcile.CannotStart,
			"404",
		},
		"no such route for files": {
			ranWell, reply{404, js, `{"message":"Cannot GET /toolbox/sb-1/files"}`}, reconcile.Infrastructure,
			"Cannot GET",
		},
		"a 404 page for files": {
			ranWell, reply{404, "text/plain", "404 page not found"}, reconcile.Infrastructure, "404",
		},
		"a 404 without words for exec": {reply{404, "", ""}, listed1, reconcile.Infrastructure, "404"},
		"the key is refused": {
			reply{401, js, `{"message":"Bearer token is invalid"}`}, listed1, reconcile.Infrastructure,
			"401 Unauthorized: Bearer token is invalid",
		},
		"no permission": {reply{403, js, `{}`}, listed1, reconcile.Infrastructure, "403"},
		"a limit":       {reply{429, js, `{}`}, listed1, reconcile.Infrastructure, "429"},
		"no address: not started": {
			reply{400, js, `{"message":"bad request: no IP address found. Is the Sandbox started?"}`}, listed1,
			reconcile.NotAllowed, "Is the Sandbox started",
		},
		"another bad request": {
			reply{400, js, `{"message":"command is required"}`}, listed1, reconcile.Infrastructure,
			"command is required",
		},
		"a page instead of a result": {
			reply{200, "text/html", "<html>"}, listed1, reconcile.Infrastructure, "no result",
		},
		"garbage instead of a result": {
			reply{200, js, `{"exitCo`}, listed1, reconcile.Infrastructure, "no result",
		},
		"another thing than a result": {
			reply{200, js, `{"hello":1}`}, listed1, reconcile.Infrastructure, "no result",
		},
		"a page instead of files": {
			ranWell, reply{200, "text/html", "<html>"}, reconcile.Infrastructure, "no file list",
		},
		"another thing than files": {
			ranWell, reply{200, js, `{"hello":1}`}, reconcile.Infrastructure, "no file list",
		},
		"a redirect": {reply{302, "text/html", ""}, listed1, reconcile.Infrastructure, "302"},
		"not started counts after a limit": {
			reply{400, js, `{"message":"no IP address found"}`}, reply{429, js, `{}`}, reconcile.Infrastructure,
			"429",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Daytona-Skip-Last-Activity-Update") != "true" {
					t.Errorf("%s counts as activity", r.URL)
				}
				if r.URL.Path == "/toolbox/sb-1/process/execute" && r.Method == http.MethodPost {
					test.exec.send(w)
				} else if r.URL.Path == "/toolbox/sb-1/files" && r.URL.Query().Get("path") == "/" {
					test.files.send(w)
				}
			}}
			got := over(t, d).Probe(t.Context(), running, both)
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) || got.Ref != running.Ref {
				t.Errorf("Probe = %+v, want %s with %q", got, test.want, test.detail)
			}
			if d.calls.Load() != 2 {
				t.Errorf("%d calls, want 2: nothing is repeated", d.calls.Load())
			}
		})
	}
}

func TestProbeBody(t *testing.T) {
	for timeout, want := range map[time.Duration]string{
		0: `"timeout":1`, 300 * time.Millisecond: `"timeout":1`, time.Second: `"timeout":1`,
		1001 * time.Millisecond: `"timeout":2`, 5 * time.Second: `"timeout":5`,
	} {
		if got := string(execBody("true", wire.Seconds(timeout))); got != `{"command":"true",`+want+`}` {
			t.Errorf("body for %s = %s, want %s", timeout, got, want)
		}
	}
}

// Without an answer within the time-out and a margin, it hung.
func TestProbeHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
		p := over(t, d)
		began := time.Now()
		got := p.Probe(t.Context(), running, both)
		if took := time.Since(began); got.Outcome != reconcile.Hung || took != 7*time.Second || got.Took != took {
			t.Errorf("Probe = %+v after %s, want hung after 7s", got, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		if got := p.Probe(ctx, running, both); got.Outcome != reconcile.Infrastructure {
			t.Errorf("Probe of an impatient caller = %+v, want infrastructure", got)
		}
	})
}

// unconnected never gets a connection.
type unconnected struct{ wait bool }

func (u unconnected) RoundTrip(r *http.Request) (*http.Response, error) {
	if u.wait {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}

func TestProbeWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, wait := range []bool{false, true} {
			p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test/api", Token: "t"},
				entry.Options{Transport: unconnected{wait}})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Probe(t.Context(), running, both); got.Outcome != reconcile.Infrastructure {
				t.Errorf("Probe that never connects = %+v, want infrastructure", got)
			}
		}
	})
}

func TestProbeOfOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
		p := over(t, d)
		first := make(chan reconcile.ProbeResult)
		go func() { first <- p.Probe(t.Context(), running, both) }()
		synctest.Wait()
		if got := p.Probe(t.Context(), running, both); got.Outcome != reconcile.NotAllowed || d.calls.Load() != 2 {
			t.Errorf("second Probe = %+v after %d calls, want not-allowed without a call", got, d.calls.Load())
		}
		<-first
		if got := p.Probe(t.Context(), running, both); got.Outcome != reconcile.Hung {
			t.Errorf("Probe after the first = %+v, want a probe", got)
		}
	})
}

func TestProbeIsNotConfigured(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) { ranWell.send(w) }}
	p := over(t, d)
	for name, policy := range map[string]reconcile.ProbePolicy{"off": {Off: true, Exec: "true"}, "nothing to do": {}} {
		if got := p.Probe(t.Context(), running, policy); got.Outcome != reconcile.NotAllowed || d.calls.Load() != 0 {
			t.Errorf("Probe, %s = %+v, want not-allowed", name, got)
		}
	}
	if got := p.Probe(t.Context(), running, reconcile.ProbePolicy{Exec: "true"}); got.Outcome != reconcile.Answered ||
		got.Detail != "exec: exit 0" || d.calls.Load() != 1 {
		t.Errorf("Probe of exec alone = %+v after %d calls", got, d.calls.Load())
	}
}

// Old versions do not say the toolbox's address with the sandbox.
func TestProbeAsksForTheAddress(t *testing.T) {
	address := reply{200, js, `{"url":"http://lab.test/toolbox"}`}
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/sandbox/sb-1/toolbox-proxy-url":
			address.send(w)
		case "/toolbox/sb-1/process/execute":
			ranWell.send(w)
		default:
			listed1.send(w)
		}
	}}
	p := over(t, d)
	s := running
	s.Endpoint = ""
	if got := p.Probe(t.Context(), s, both); got.Outcome != reconcile.Answered || d.calls.Load() != 3 {
		t.Errorf("Probe = %+v after %d calls, want answered after 3", got, d.calls.Load())
	}
	address = reply{500, js, `{}`}
	if got := p.Probe(t.Context(), s, both); got.Outcome != reconcile.Infrastructure {
		t.Errorf("Probe without an address = %+v, want infrastructure", got)
	}
}

// The token goes nowhere in the clear but where the config sends it.
func TestTokenStaysHome(t *testing.T) {
	for address, may := range map[string]bool{
		"https://proxy.app.daytona.io/toolbox": true,
		"http://lab.test/toolbox":              true,
		"http://localhost:4000/toolbox":        false, // some other service of this machine
		"http://127.0.0.1:4000/toolbox":        false,
		"http://[::1]:4000/toolbox":            false,
		"http://elsewhere.test/toolbox":        false,
		"http://lab.test:81/toolbox":           false,
		"http://lab.test.evil.test/toolbox":    false,
		"http://127.0.0.1.evil.test/toolbox":   false,
		"http://lab.test@evil.test/toolbox":    false,
		"https://lab.test@evil.test/toolbox":   false,
		"https://evil.test/?x=":                false,
		"https://evil.test/#":                  false, // what comes behind it would be lost
		"https://evil.test/?":                  false,
		"ftp://lab.test/toolbox":               false,
		"https://evil.test/toolbox":            false, // no host of the vendor's, nor of url
		"https://169.254.169.254/latest":       false,
		"https://10.0.0.7/toolbox":             false,
		"https://app.daytona.io.evil.test/x":   false,
		"https://evildaytona.io/toolbox":       false,
		"//lab.test/toolbox":                   false,
		"nonsense":                             false,
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) { ranWell.send(w) }}
		s := running
		s.Endpoint = address
		got := over(t, d).Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true"})
		if called := d.calls.Load() == 1; called != may {
			t.Errorf("toolbox at %s: called %t, want %t (%+v)", address, called, may, got)
		}
	}
}

// TestTokenStaysOnThisMachine: a control plane of this machine may have its toolbox on
// another port of it.
func TestTokenStaysOnThisMachine(t *testing.T) {
	for address, may := range map[string]bool{
		"http://localhost:4000/toolbox": true, "http://127.0.0.1:4000/toolbox": true, "http://[::1]:4000/toolbox": true,
		"http://lab.test:4000/toolbox": false, "http://127.0.0.1.evil.test/toolbox": false,
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) { ranWell.send(w) }}
		s := running
		s.Endpoint = address
		p := over(t, d, func(e *entry.Entry) { e.URL = "http://localhost:3000/api" })
		got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: "true"})
		if called := d.calls.Load() == 1; called != may {
			t.Errorf("toolbox at %s: called %t, want %t (%+v)", address, called, may, got)
		}
	}
}

func TestLogs(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		want   string
		err    error
	}{
		"the end of the output":    {reply{200, js, `{"output":"0123456789","stdout":"x"}`}, "56789", nil},
		"no output, two streams":   {reply{200, js, `{"output":"","stdout":"ab","stderr":"cd"}`}, "abcd", nil},
		"plain, of old toolboxes":  {reply{200, "text/plain; charset=utf-8", "0123456789"}, "56789", nil},
		"a letter that is cut":     {reply{200, "text/plain", "äääää"}, "ää", nil},
		"the token":                {reply{200, "text/plain", "x s3cret"}, "oken]", nil},
		"none":                     {reply{404, js, `{"message":"no session"}`}, "", reconcile.ErrNotFound},
		"a page instead of a log":  {reply{200, "text/html", "<html>"}, "", errAny},
		"a log that is very large": {reply{200, "text/plain", strings.Repeat("x", maxLog+1)}, "", errAny},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { test.answer.send(w) }}
		if got, err := over(t, d).Logs(t.Context(), running, 5); got != test.want || !is(err, test.err) {
			t.Errorf("%s: Logs = %q, %v; want %q, %v", name, text.Clip(got, 20), err, test.want, test.err)
		}
	}
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		err    error
	}{
		"measured": {
			reply{200, js, `{"cpuUsedPct":97.5,"memUsed":1,"memTotal":2,"diskUsed":3,"diskTotal":4}`}, nil,
		},
		"an empty answer":    {reply{200, js, `{}`}, errAny},
		"a dead toolbox":     {reply{502, "", ""}, errAny},
		"a page is no usage": {reply{200, "text/html", "<html>"}, errAny},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { test.answer.send(w) }}
		got, err := over(t, d).Usage(t.Context(), running)
		want := reconcile.Resources{}
		if test.err == nil {
			want = reconcile.Resources{CPUPercent: 97.5, MemoryUsed: 1, MemoryTotal: 2, DiskUsed: 3, DiskTotal: 4}
		}
		if got != want || !is(err, test.err) {
			t.Errorf("%s: Usage = %+v, %v; want %+v, %v", name, got, err, want, test.err)
		}
	}
}
