package wire_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A double answers in place of an API and counts the calls.
type double struct {
	calls  atomic.Int32
	answer func(call int, w http.ResponseWriter, r *http.Request)
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.answer(int(d.calls.Add(1)), w, r)
}

// An api is a client as an adapter uses it.
type api struct{ *wire.Client }

// over makes a client that talks to the double without a network. In its dialect a 404 with
// a message is certain.
func over(t *testing.T, d *double, change ...func(*entry.Entry, *entry.Options, *wire.Dialect)) api {
	t.Helper()
	e := entry.Entry{Name: "lab", URL: "http://lab.test/api", Token: "s3cret", Timeout: 5 * time.Second}
	o := entry.Options{Transport: wiretest.Transport(d)}
	dialect := wire.Dialect{URL: "https://api.test", Certain: func(_ wire.Answer, s wire.APIError) bool { return s.Text != "" }}
	for _, c := range change {
		c(&e, &o, &dialect)
	}
	c, err := wire.New(e, o, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return api{c}
}

// read reads the one thing there is.
func (a api) read(ctx context.Context) error {
	var v struct{ ID string }
	_, err := a.Get(ctx, wire.Call{What: "get", URL: a.At("thing", "sb-1")}, &v)
	if err == nil && v.ID != "sb-1" {
		return errors.New("another thing")
	}
	return err
}

func sendJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

const one = `{"id":"sb-1"}`

var errAny = errors.New("any error but not found")

func is(err, want error) bool {
	if errors.Is(want, errAny) {
		return err != nil && !errors.Is(err, reconcile.ErrNotFound)
	}
	return errors.Is(err, want)
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
		"waits that are too long together are throttled": {
			status: 429, header: http.Header{"Retry-After": {"16"}}, fails: 99, calls: 2, waits: 16 * time.Second,
			err: reconcile.ErrThrottled,
		},
		"waits of 30s together are not": {
			status: 429, header: http.Header{"Retry-After": {"15"}}, fails: 2, calls: 3, waits: 30 * time.Second,
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
				err := over(t, d).read(t.Context())
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
			if err := p.read(t.Context()); !errors.Is(err, reconcile.ErrThrottled) {
				t.Errorf("Get = %v, want ErrThrottled", err)
			}
		}
		if d.calls.Load() != 1 {
			t.Errorf("%d calls, want 1: the provider asked to wait", d.calls.Load())
		}
		k := wire.Call{Method: "DELETE", URL: "http://lab.test/api/x", Max: 1000}
		if _, err := p.Change(t.Context(), k); err != nil {
			t.Errorf("a change = %v, want it not held back by the reads' limit", err)
		}
		time.Sleep(100 * time.Second) // 20s are left: short enough to wait
		if err := p.read(t.Context()); err != nil {
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
			err := p.read(t.Context())
			if !errors.Is(err, want) || d.calls.Load() != wantCalls {
				t.Errorf("Get = %v after %d calls, want %v after %d", err, d.calls.Load(), want, wantCalls)
			}
		}
		ask(1, reconcile.ErrUnauthorized)
		ask(1, reconcile.ErrUnauthorized) // open: not called
		time.Sleep(wire.CircuitPause - time.Second)
		ask(1, reconcile.ErrUnauthorized)
		if _, err := p.Once(t.Context(), wire.Call{Method: "GET", URL: "http://lab.test/inside", Inside: true}); err == nil ||
			d.calls.Load() != 1 {
			t.Errorf("a call inside = %v after %d calls, want none made", err, d.calls.Load())
		}
		time.Sleep(time.Second)
		ask(2, reconcile.ErrUnauthorized) // one call tries
		ask(2, reconcile.ErrUnauthorized)
		good.Store(true)
		ask(2, reconcile.ErrUnauthorized) // not before its time
		time.Sleep(wire.CircuitPause)
		ask(3, nil)
		ask(4, nil)
	})
}

func TestLargeAnswersAreNotAskedForAgain(t *testing.T) {
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, 200, strings.Repeat(" ", wire.MaxOne+1))
	}}
	if err := over(t, d).read(t.Context()); !errors.Is(err, wire.ErrLarge) || d.calls.Load() != 1 {
		t.Errorf("Get = %v after %d calls, want it too large after 1", err, d.calls.Load())
	}
}

// The token goes to the host of url only, also when that host sends elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	leaked := make(chan string, 1)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked <- r.Header.Get("Authorization")
	}))
	defer thief.Close()
	site := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer site.Close()
	p, err := wire.New(entry.Entry{Name: "lab", URL: site.URL, Token: "s3cret", Timeout: time.Second}, entry.Options{}, wire.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (api{p}).read(t.Context()); err == nil || errors.Is(err, reconcile.ErrNotFound) {
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
	err := over(t, d).read(t.Context())
	if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") ||
		len(err.Error()) > 400 {
		t.Errorf("Get = %q, want one short line without the token", err)
	}
	want := "400 Bad Request: bad key Bearer [token], and xxx"
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Get = %q, want %q first", err, want)
	}
}

// TestErrorsDoNotHoldThePartOfAToken: neither encoded nor where the words are cut off.
func TestErrorsDoNotHoldThePartOfAToken(t *testing.T) {
	const token = "dtn_/+=&s3cret-key?"
	for name, said := range map[string]string{
		"in an address":             "https://x.test/?key=" + url.QueryEscape(token),
		"in a path":                 "https://x.test/" + url.PathEscape(token),
		"in base64":                 base64.StdEncoding.EncodeToString([]byte(token)),
		"as a header in base64":     base64.URLEncoding.EncodeToString([]byte("Bearer " + token)),
		"as a password in base64":   base64.StdEncoding.EncodeToString([]byte("a:" + token)),
		"where the words are cut":   strings.Repeat("x", 295) + token,
		"right before they are cut": strings.Repeat("x", 285) + token,
	} {
		t.Run(name, func(t *testing.T) {
			d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
				text, err := json.Marshal(map[string]string{"message": said})
				if err != nil {
					t.Error(err)
				}
				sendJSON(w, 400, string(text))
			}}
			err := over(t, d, func(e *entry.Entry, _ *entry.Options, _ *wire.Dialect) { e.Token = token }).read(t.Context())
			if err == nil || strings.Contains(err.Error(), "dtn_") || strings.Contains(err.Error(), said[len(said)-8:]) {
				t.Errorf("Get = %q", err)
			}
		})
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
		if err := over(t, d).read(t.Context()); err != nil || d.calls.Load() != 2 {
			t.Errorf("Get = %v after %d calls, want the second to answer", err, d.calls.Load())
		}
	})
}

// A provider that answers nothing is asked four times by the first read, and once by those
// after it, until it answers something.
func TestASilentProviderIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := 0 // of answers; 0: none
		d := &double{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
			if status == 0 {
				<-r.Context().Done()
				return
			}
			sendJSON(w, status, one)
		}}
		p := over(t, d)
		for i, step := range []struct{ status, calls int }{{0, 4}, {0, 1}, {0, 1}, {502, 4}, {0, 4}, {0, 1}, {200, 1}, {0, 4}} {
			status = step.status
			before := int(d.calls.Load())
			err := p.read(t.Context())
			if got := int(d.calls.Load()) - before; got != step.calls || (err == nil) != (status == 200) {
				t.Errorf("read %d, answered %d: %d calls and %v, want %d calls", i, status, got, err, step.calls)
			}
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		p := over(t, d, func(e *entry.Entry, _ *entry.Options, _ *wire.Dialect) { e.Rate = 2 })
		began := time.Now()
		for range 12 { // two at once, ten at 2/s
			if err := p.read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("12 calls at 2/s took %s, want 5s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := p.read(ctx); !errors.Is(err, reconcile.ErrThrottled) {
			t.Errorf("Get without time to wait = %v, want ErrThrottled", err)
		}
	})
}

// What rests on a look is not sent when its time is over, also where only the wait for the rate used it up.
func TestTooLateIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		p := over(t, d, func(e *entry.Entry, _ *entry.Options, _ *wire.Dialect) { e.Rate = 1 })
		ctx := reconcile.NotAfter(t.Context(), time.Now().Add(1500*time.Millisecond))
		for call, sent := range []bool{true, true, false} { // at once, after 1s, and too late after 2s
			if err := p.read(ctx); (err == nil) != sent {
				t.Errorf("call %d: %v, want it sent: %t", call, err, sent)
			}
		}
		if d.calls.Load() != 2 {
			t.Errorf("%d calls were sent, want 2", d.calls.Load())
		}
	})
}

func TestTurnOfAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		turns, full := 0, errors.New("the line is full")
		p := over(t, d, func(e *entry.Entry, o *entry.Options, _ *wire.Dialect) {
			e.Rate, o.Turn = 1, func(context.Context) error {
				turns++
				if turns > 10 {
					return full
				}
				return nil
			}
		})
		began := time.Now()
		for range 10 {
			if err := p.read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); turns != 10 || took != 0 {
			t.Errorf("10 calls took %d turns and %s, want 10 and no time by a limit of its own", turns, took)
		}
		err := p.read(t.Context())
		if !errors.Is(err, full) || !errors.Is(err, reconcile.ErrThrottled) || d.calls.Load() != 10 {
			t.Errorf("without a turn: error = %v after %d calls, want throttled after 10", err, d.calls.Load())
		}
	})
}

// A body without an end is given up.
func TestEndlessBody(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := []byte(strings.Repeat(" ", 64<<10))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	p, err := wire.New(entry.Entry{Name: "lab", URL: endless.URL + "/api", Token: "t"}, entry.Options{}, wire.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Once(t.Context(), wire.Call{Method: http.MethodGet, URL: endless.URL}); err == nil ||
		!strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("an endless answer = %v, want it refused for its size", err)
	}
}

// A caller whose time is over was not held back by the rate.
func TestTimeThatIsOverIsNoLimit(t *testing.T) {
	a := over(t, &double{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Once(ctx, wire.Call{What: "get", Method: http.MethodGet, URL: a.At("thing")})
	if !errors.Is(err, context.Canceled) || errors.Is(err, reconcile.ErrThrottled) {
		t.Errorf("Once = %v, want it cancelled and not throttled", err)
	}
}
