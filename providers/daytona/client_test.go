package daytona

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
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

var errAny = errors.New("any error but not found")

func is(err, want error) bool {
	if errors.Is(want, errAny) {
		return err != nil && !errors.Is(err, reconcile.ErrNotFound)
	}
	return errors.Is(err, want)
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
		"a 404 of a gateway in between": {
			404, "application/json", `{"message":"no Route matched with those values"}`, errAny,
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
			200, "application/json", `{"id":"sb-1","name":"` + strings.Repeat("x", wire.MaxOne) + `"}`, errAny,
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

// Rows that should hold ids may hold names, which the vendor finds as well: while the sandbox of
// that name is there, nothing is gone.
func TestNameInPlaceOfAnID(t *testing.T) {
	for name, test := range map[string]struct {
		link, body string
		want       error
	}{
		"rows hold ids":                            {"id", byName(one), errAny},
		"rows hold ids, and it failed":             {"id", byName(being("error")), errAny},
		"rows hold ids, nobody knows the state":    {"id", byName(being("melting")), errAny},
		"rows hold ids, and it is stopped":         {"id", byName(being("stopped")), reconcile.ErrNotFound},
		"rows hold ids, and it is destroyed":       {"id", byName(being("destroyed")), reconcile.ErrNotFound},
		"rows hold names, so this was an id":       {"name", byName(one), reconcile.ErrNotFound},
		"rows hold nothing, so this was an id":     {"", byName(one), reconcile.ErrNotFound},
		"rows hold nothing, another one by chance": {"", strings.Replace(one, "sb-1", "sb-2", 1), errAny},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, test.body) }}
		p := over(t, d, func(e *entry.Entry) { e.Link.Sandbox = test.link })
		if s, err := p.Get(t.Context(), "sb-1"); !is(err, test.want) {
			t.Errorf("%s: Get = %+v, %v; want %v", name, s, err, test.want)
		}
		known := reconcile.Sandbox{Ref: reconcile.Ref{ID: "sb-1"}, Owned: true}
		how, err := p.Terminate(t.Context(), known)
		if odd := strings.Contains(test.body, `"name":"a"`); !odd && how != reconcile.TerminateChanged || odd && err == nil ||
			d.calls.Load() != 2 {
			t.Errorf("%s: Terminate = %q, %v after %d calls; want changed, or an error, and nothing done", name, how, err,
				d.calls.Load())
		}
	}
	for link, want := range map[string][2]string{"id": {"sb-1", "a"}, "name": {"a", "sb-1"}, "": {"", ""}} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, one) }}
		got, err := over(t, d, func(e *entry.Entry) { e.Link.Sandbox = link }).Get(t.Context(), "sb-1")
		if err != nil || got.SandboxKey != want[0] || got.AltKey != want[1] {
			t.Errorf("link %q: rows name it by %q or %q, %v; want %q", link, got.SandboxKey, got.AltKey, err, want)
		}
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
			t.Errorf("Get(%q) = %v, want ErrUnknownID", text.Clip(id, 20), err)
		}
	}
	if d.calls.Load() != calls {
		t.Error("what is no id was asked for")
	}
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
