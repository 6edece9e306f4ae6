package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A double answers in place of the API and counts the calls.
type double struct {
	calls  atomic.Int32
	answer func(call int, w http.ResponseWriter, r *http.Request)
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.answer(int(d.calls.Add(1)), w, r)
}

// over makes a provider that talks to the double without a network.
func over(t *testing.T, d *double, change ...func(*entry.Entry)) *Provider {
	t.Helper()
	e := entry.Entry{Name: "lab", URL: "http://lab.test/api", Token: "s3cret", Timeout: 5 * time.Second,
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id"}}
	for _, c := range change {
		c(&e)
	}
	p, err := New(e, entry.Options{Transport: daytonatest.Transport(d)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sendJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const one = `{"id":"sb-1","name":"a","state":"started","desiredState":"started","labels":{"project":"mine"}}`

func ids(ctx context.Context, p *Provider) ([]string, reconcile.Listing, error) {
	var out []string
	l, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			out = append(out, s.ID)
		}
		return nil
	})
	return out, l, err
}

func TestReadsAreRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header http.Header
		fails  int // calls that fail first
		calls  int
		waits  time.Duration // at least
		err    error
	}{
		"a 502 passes": {status: 502, fails: 1, calls: 2},
		"a 503 that asks for 3s": {
			status: 503, header: http.Header{"Retry-After": {"3"}}, fails: 1, calls: 2, waits: 3 * time.Second,
		},
		"a 429 with its limiter's name": {
			status: 429, header: http.Header{"Retry-After-Authenticated": {"2"}}, fails: 2, calls: 3,
			waits: 4 * time.Second,
		},
		"the longest wait counts": {
			status: 429, header: http.Header{"Retry-After": {"1"}, "Retry-After-Anonymous": {"4"}}, fails: 1,
			calls: 2, waits: 4 * time.Second,
		},
		"a 429 that asks for a date": {
			status: 429, header: http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:00:09 GMT"}}, fails: 1,
			calls: 2, waits: 8 * time.Second,
		},
		"a 429 without a wait backs off": {status: 429, fails: 3, calls: 4},
		"a 429 for ever is throttled":    {status: 429, fails: 99, calls: 4, err: reconcile.ErrThrottled},
		"a wait that is too long is throttled": {
			status: 429, header: http.Header{"Retry-After": {"31"}}, fails: 1, calls: 1,
			err: reconcile.ErrThrottled,
		},
		"a 500 is not repeated": {status: 500, fails: 1, calls: 1, err: errAny},
		"a 404 is not repeated": {status: 404, fails: 1, calls: 1, err: reconcile.ErrNotFound},
		"a 403 is not repeated": {status: 403, fails: 1, calls: 1, err: reconcile.ErrUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
					if call > test.fails {
						sendJSON(w, 200, one)
						return
					}
					for key, values := range test.header {
						w.Header()[key] = values
					}
					w.Header().Set("Date", "Sat, 01 Jan 2000 00:00:01 GMT")
					sendJSON(w, test.status, `{"statusCode":404,"message":"Sandbox with ID or name sb-1 not found"}`)
				}}
				began := time.Now()
				_, err := over(t, d).Get(t.Context(), "sb-1")
				if !is(err, test.err) || int(d.calls.Load()) != test.calls {
					t.Errorf("Get = %v after %d calls, want %v after %d", err, d.calls.Load(), test.err, test.calls)
				}
				if took := time.Since(began); took < test.waits {
					t.Errorf("Get took %s, want at least %s", took, test.waits)
				}
			})
		})
	}
}

var errAny = errors.New("any error but not found")

func is(err, want error) bool {
	if errors.Is(want, errAny) {
		return err != nil && !errors.Is(err, reconcile.ErrNotFound)
	}
	return errors.Is(err, want)
}

// A limit that was met holds the next call back too, of its own sort only.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(call int, w http.ResponseWriter, r *http.Request) {
			if call == 1 {
				w.Header().Set("Retry-After", "120")
				sendJSON(w, 429, `{}`)
				return
			}
			sendJSON(w, 200, one)
		}}
		p := over(t, d)
		for range 3 {
			if _, err := p.Get(t.Context(), "sb-1"); !errors.Is(err, reconcile.ErrThrottled) {
				t.Errorf("Get = %v, want ErrThrottled", err)
			}
		}
		if d.calls.Load() != 1 {
			t.Errorf("%d calls, want 1: the provider asked to wait", d.calls.Load())
		}
		k := call{method: "DELETE", url: "http://lab.test/api/x", max: 1000}
		if _, err := p.client.change(t.Context(), k); err != nil {
			t.Errorf("a change = %v, want it not held back by the reads' limit", err)
		}
		time.Sleep(100 * time.Second) // 20s are left: short enough to wait
		if _, err := p.Get(t.Context(), "sb-1"); err != nil {
			t.Errorf("Get later = %v, want a sandbox", err)
		}
	})
}

func TestCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var good atomic.Bool
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			if good.Load() {
				sendJSON(w, 200, one)
				return
			}
			sendJSON(w, 401, `{"statusCode":401,"message":"Invalid credentials"}`)
		}}
		p := over(t, d)
		ask := func(wantCalls int32, want error) {
			t.Helper()
			_, err := p.Get(t.Context(), "sb-1")
			if !errors.Is(err, want) || d.calls.Load() != wantCalls {
				t.Errorf("Get = %v after %d calls, want %v after %d", err, d.calls.Load(), want, wantCalls)
			}
		}
		ask(1, reconcile.ErrUnauthorized)
		ask(1, reconcile.ErrUnauthorized) // open: not called
		time.Sleep(circuitPause - time.Second)
		ask(1, reconcile.ErrUnauthorized)
		probe := p.Probe(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, State: reconcile.SandboxRunning,
			Endpoint: "http://lab.test/toolbox"}, reconcile.ProbePolicy{Exec: "true"})
		if probe.Outcome != reconcile.Infrastructure || d.calls.Load() != 1 {
			t.Errorf("Probe = %+v after %d calls, want infrastructure without a call", probe, d.calls.Load())
		}
		time.Sleep(time.Second)
		ask(2, reconcile.ErrUnauthorized) // one call tries
		ask(2, reconcile.ErrUnauthorized)
		good.Store(true)
		ask(2, reconcile.ErrUnauthorized) // not before its time
		time.Sleep(circuitPause)
		ask(3, nil)
		ask(4, nil)
	})
}

// Only one call tries a refused credential, a sandbox's own answer never does, and what is
// no word on the credential leaves the circuit as it is.
func TestCircuitTries(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	var c circuit
	c.refused(at)
	later := at.Add(circuitPause)
	for i, test := range []struct {
		toolbox, admitted bool
	}{{true, false}, {false, true}, {false, false}} {
		if err := c.admit(later, test.toolbox); (err == nil) != test.admitted {
			t.Errorf("call %d: admit = %v, want admitted %t", i, err, test.admitted)
		}
	}
	for _, status := range []int{429, 500, 503} {
		p := over(t, &double{})
		p.client.circuit.refused(p.now())
		p.client.learn(call{method: http.MethodGet}, answer{status: status})
		if err := p.client.circuit.admit(p.now(), false); err == nil {
			t.Errorf("a %d closed the circuit", status)
		}
	}
}

func TestLargeAnswersAreNotAskedForAgain(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, 200, strings.Repeat(" ", maxOne+1))
	}}
	if _, err := over(t, d).Get(t.Context(), "sb-1"); !errors.Is(err, errLarge) || d.calls.Load() != 1 {
		t.Errorf("Get = %v after %d calls, want it too large after 1", err, d.calls.Load())
	}
}

func TestCircuitSaysSo(t *testing.T) {
	var c circuit
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	c.refused(at)
	err := c.admit(at.Add(time.Minute), false)
	if err == nil || !strings.Contains(err.Error(), "not calling: credential refused since 2026-01-01T10:00:00Z") {
		t.Errorf("admit = %v, want that it does not call and why", err)
	}
	if err := c.admit(at.Add(-time.Minute), false); err == nil {
		t.Error("admit with a clock that ran backwards = nil, want it still open")
	}
}

// A sandbox's own 401 says nothing of the credential.
func TestToolboxDoesNotOpenTheCircuit(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/toolbox/") {
			sendJSON(w, 401, `{"message":"Bearer token is invalid"}`)
			return
		}
		sendJSON(w, 200, one)
	}}
	p := over(t, d)
	s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, State: reconcile.SandboxRunning,
		Endpoint: "http://lab.test/toolbox"}
	if got := p.Probe(t.Context(), s, both); got.Outcome != reconcile.Infrastructure {
		t.Errorf("Probe = %+v, want infrastructure", got)
	}
	if _, err := p.Get(t.Context(), "sb-1"); err != nil {
		t.Errorf("Get = %v, want none", err)
	}
}

func TestGetBelievesOnlyTheAPI(t *testing.T) {
	for name, test := range map[string]struct {
		status      int
		contentType string
		body        string
		want        error
	}{
		"a sandbox": {200, "application/json; charset=utf-8", one, nil},
		"fields of other types": {
			200, "application/json", `{"id":"sb-1","state":7,"labels":{"a":1},"createdAt":"soon"}`, nil,
		},
		"a 404 of the API": {
			404, "application/json", `{"statusCode":404,"message":"Sandbox with ID or name sb-1 not found"}`,
			reconcile.ErrNotFound,
		},
		"a 404 of the API's router": {
			404, "application/json", `{"statusCode":404,"message":"Cannot GET /api/sandbox/sb-1"}`, errAny,
		},
		"a 404 that says nothing": {404, "application/json", `{}`, errAny},
		"a 404 page":              {404, "text/html", `<html>not found</html>`, errAny},
		"a 404 about another status": {
			404, "application/json", `{"statusCode":503,"message":"no upstream"}`, errAny,
		},
		"a 410 of the API": {
			410, "application/json", `{"error":{"code":"gone","message":"Status code 410 is not ok"}}`, reconcile.ErrNotFound,
		},
		"a 410 without words":   {410, "", ``, reconcile.ErrNotFound},
		"a 410 page":            {410, "text/html", `<html>this site is gone</html>`, errAny},
		"the dashboard":         {200, "text/html", `<html>`, errAny},
		"JSON without its type": {200, "text/plain", one, errAny},
		"half a sandbox":        {200, "application/json", one[:30], errAny},
		"no id":                 {200, "application/json", `{}`, errAny},
		"null":                  {200, "application/json", `null`, errAny},
		"another sandbox, of this name": {
			200, "application/json", `{"id":"sb-2","name":"sb-1"}`, reconcile.ErrNotFound,
		},
		"a redirect": {302, "text/html", ``, errAny},
		"an answer that is larger than fits": {
			200, "application/json", `{"id":"sb-1","name":"` + strings.Repeat("x", maxOne) + `"}`, errAny,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.Header().Set("Location", "http://elsewhere.test/")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}}
			if s, err := over(t, d).Get(t.Context(), "sb-1"); !is(err, test.want) {
				t.Errorf("Get = %+v, %v; want %v", s, err, test.want)
			}
		})
	}
}

func TestGetAsksForTheIDOnly(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		sendJSON(w, 404, `{"statusCode":404,"message":"not found: `+r.URL.EscapedPath()+`"}`)
	}}
	p := over(t, d)
	for id, want := range map[string]string{
		"a/b": "/api/sandbox/a%2Fb", "a?b#c": "/api/sandbox/a%3Fb%23c", "../x": "/api/sandbox/..%2Fx",
		"a b": "/api/sandbox/a%20b",
	} {
		if _, err := p.Get(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Get(%q) = %v, want a call of %s", id, err, want)
		}
	}
	calls := d.calls.Load()
	for _, id := range []string{"", ".", "..", "a\nb", strings.Repeat("x", 513)} {
		if _, err := p.Get(t.Context(), id); !errors.Is(err, reconcile.ErrUnknownID) {
			t.Errorf("Get(%q) = %v, want ErrUnknownID", clip(id, 20), err)
		}
	}
	if d.calls.Load() != calls {
		t.Error("what is no id was asked for")
	}
}

// The token goes to the host of url only, also when that host sends elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	leaked := make(chan string, 1)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked <- r.Header.Get("Authorization")
	}))
	defer thief.Close()
	api := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer api.Close()
	p, err := New(entry.Entry{Name: "lab", URL: api.URL, Token: "s3cret", Timeout: time.Second}, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), "sb-1"); err == nil || errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get = %v, want an error that is not ErrNotFound", err)
	}
	if len(leaked) > 0 {
		t.Errorf("the redirect was followed with %q", <-leaked)
	}
}

func TestErrorsDoNotHoldTheToken(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
		sendJSON(w, 400, fmt.Sprintf(`{"message":["bad\n\n key %s","and %s"]}`, r.Header.Get("Authorization"),
			strings.Repeat("x", 1000)))
	}}
	_, err := over(t, d).Get(t.Context(), "sb-1")
	if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") ||
		len(err.Error()) > 400 {
		t.Errorf("Get = %q, want one short line without the token", err)
	}
	want := "get sandbox sb-1 of lab: 400 Bad Request: bad key Bearer [token], and xxx"
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Get = %q, want %q first", err, want)
	}
}

func TestPerCallTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(call int, w http.ResponseWriter, r *http.Request) {
			if call == 1 {
				<-r.Context().Done()
				return
			}
			sendJSON(w, 200, one)
		}}
		if _, err := over(t, d).Get(t.Context(), "sb-1"); err != nil || d.calls.Load() != 2 {
			t.Errorf("Get = %v after %d calls, want the second to answer", err, d.calls.Load())
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		p := over(t, d, func(e *entry.Entry) { e.Rate = 2 })
		began := time.Now()
		for range 12 { // two at once, ten at 2/s
			if _, err := p.Get(t.Context(), "sb-1"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("12 calls at 2/s took %s, want 5s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := p.Get(ctx, "sb-1"); !errors.Is(err, reconcile.ErrThrottled) {
			t.Errorf("Get without time to wait = %v, want ErrThrottled", err)
		}
	})
}

func TestTurnOfAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		turns, full := 0, errors.New("the line is full")
		e := entry.Entry{Name: "lab", URL: "https://app.daytona.test/api", Token: "t", Timeout: time.Second, Rate: 1}
		p, err := New(e, entry.Options{Transport: daytonatest.Transport(d), Turn: func(context.Context) error {
			turns++
			if turns > 10 {
				return full
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 10 {
			if _, err := p.Get(t.Context(), "sb-1"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); turns != 10 || took != 0 {
			t.Errorf("10 calls took %d turns and %s, want 10 and no time by a limit of its own", turns, took)
		}
		_, err = p.Get(t.Context(), "sb-1")
		if !errors.Is(err, full) || !errors.Is(err, reconcile.ErrThrottled) || d.calls.Load() != 10 {
			t.Errorf("without a turn: error = %v after %d calls, want throttled after 10", err, d.calls.Load())
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for name, e := range map[string]entry.Entry{
		"no token":        {URL: "https://x.test/api"},
		"no scheme":       {URL: "x.test/api", Token: "t"},
		"another scheme":  {URL: "file:///etc", Token: "t"},
		"a password":      {URL: "https://u:p@x.test/api", Token: "t"},
		"a query":         {URL: "https://x.test/api?a=b", Token: "t"},
		"a broken escape": {URL: "https://x.test/%zz", Token: "t"},
	} {
		if _, err := New(e, entry.Options{}); err == nil {
			t.Errorf("New with %s = nil error", name)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Errorf("New with %s shows it: %v", name, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		header http.Header
		want   time.Duration
		ok     bool
	}{
		"none":                   {http.Header{"Retry-Afternoon": {"5"}}, 0, false},
		"seconds":                {http.Header{"Retry-After": {"5"}}, 5 * time.Second, true},
		"parts of a second":      {http.Header{"Retry-After": {" 0.5 "}}, 500 * time.Millisecond, true},
		"with a limiter":         {http.Header{"Retry-After-Sandbox-Lifecycle": {"7"}}, 7 * time.Second, true},
		"a date":                 {http.Header{"Retry-After": {"Thu, 01 Jan 2026 00:01:00 GMT"}}, time.Minute, true},
		"a date that has passed": {http.Header{"Retry-After": {"Wed, 31 Dec 2025 00:00:00 GMT"}}, 0, true},
		"negative":               {http.Header{"Retry-After": {"-5"}}, 0, true},
		"without end":            {http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour, true},
		"no number":              {http.Header{"Retry-After": {"NaN"}}, 0, false},
		"words":                  {http.Header{"Retry-After": {"soon"}}, 0, false},
	} {
		if got, ok := retryAfter(test.header, date); got != test.want || ok != test.ok {
			t.Errorf("%s: retryAfter = %s, %t; want %s, %t", name, got, ok, test.want, test.ok)
		}
	}
}
