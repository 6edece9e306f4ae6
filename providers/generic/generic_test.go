package generic_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const token = "k3y-k3y-k3y"

// A reply is what a script answers; no kind means JSON.
type reply struct {
	status           int
	kind, body, link string
}

// A script answers calls, and keeps what it was asked.
type script struct {
	answer func(r *http.Request) reply

	mu    sync.Mutex
	asked []*http.Request
	sent  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked, s.sent = append(s.asked, r), append(s.sent, string(body))
	s.mu.Unlock()
	out := s.answer(r)
	if out.kind == "" {
		out.kind = "application/json"
	}
	h := http.Header{"Content-Type": {out.kind}}
	if out.link != "" {
		h.Set("Link", out.link)
	}
	return &http.Response{StatusCode: out.status, Header: h, Body: io.NopCloser(strings.NewReader(out.body)), Request: r}, nil
}

// says always answers the same.
func says(out reply) func(*http.Request) reply { return func(*http.Request) reply { return out } }

// ask makes a provider of the boxyard that hears the script alone.
func ask(t testing.TB, s *script, change ...func(*entry.API)) *generic.Provider {
	t.Helper()
	e := entry.Entry{Name: "lab", URL: "https://yard.test/v1", Token: token, API: yard(t), Hosts: []string{"*.boxes.test"},
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id"}}
	for _, c := range change {
		c(e.API)
	}
	p, err := generic.New(e, entry.Options{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// listed is the whole listing. It waits before repeats in no time.
func listed(t *testing.T, p *generic.Provider) (all []reconcile.Sandbox, l reconcile.Listing, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, err = p.List(t.Context(), func(page []reconcile.Sandbox) error { all = append(all, page...); return nil })
	})
	return all, l, err
}

const one = `{"box_id":"b-1","phase":"placed","tags":{"project":"mine","task_id":"t1"}}`

var mine = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "b-1"}, Owned: true, Task: "t1",
	State: reconcile.SandboxRunning}

func TestFields(t *testing.T) {
	s := &script{answer: says(reply{status: 200, body: `{"box":{"box_id":"b-1","title":"one","phase":"dented","tags":
		{"project":"mine","task_id":"t1","n":5},"image":{"name":"base"},"zone":"eu","why":"bad ` + token + `","times":
		{"born":1793534400000,"changed":"2026-11-01T13:00:00Z","used":"soon"}}}`})}
	got, err := ask(t, s).Get(t.Context(), "b-1")
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	if err != nil || got.Name != "one" || got.State != reconcile.SandboxFailed || got.Raw != "dented" || got.Template != "base" ||
		got.Region != "eu" || !got.Owned || got.Task != "t1" || got.Labels["n"] != "5" || !got.CreatedAt.Equal(noon) ||
		!got.UpdatedAt.Equal(noon.Add(time.Hour)) || !got.LastActivityAt.IsZero() || got.Error != "bad [token]" {
		t.Errorf("Get = %+v, %v", got, err)
	}
}

// Where rows hold ids they may hold names, if the platform finds these as well.
func TestNameInPlaceOfAnID(t *testing.T) {
	for name, test := range map[string]struct {
		link, phase string
		gone        bool
	}{
		"rows hold ids":                    {"id", "placed", false},
		"rows hold ids, and it is parked":  {"id", "parked", true},
		"rows hold names, this was an id":  {"name", "placed", true},
		"rows hold nothing, it was an id":  {"", "placed", true},
		"rows hold ids, it is in no state": {"id", "melting", false},
	} {
		s := &script{answer: says(reply{status: 200, body: `{"box":{"box_id":"b-1","title":"one","phase":"` + test.phase + `"}}`})}
		p, err := generic.New(entry.Entry{Name: "lab", URL: "https://yard.test/v1", Token: token, API: yard(t),
			Link: entry.Link{Sandbox: test.link}}, entry.Options{Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Get(t.Context(), "one"); errors.Is(err, reconcile.ErrNotFound) != test.gone || err == nil {
			t.Errorf("%s: Get by name = %+v, %v; want gone %t", name, got, err, test.gone)
		}
		also := map[string]string{"id": "one", "name": "b-1"}[test.link]
		if got, err := p.Get(t.Context(), "b-1"); err != nil || got.AltKey != also {
			t.Errorf("%s: rows may also hold %q, %v; want %q", name, got.AltKey, err, also)
		}
	}
}

func TestStates(t *testing.T) {
	for word, want := range map[string]reconcile.SandboxState{
		`"lifting"`: reconcile.SandboxCreating, `"placed"`: reconcile.SandboxRunning, `"covered"`: reconcile.SandboxSuspended,
		`"stopping"`: reconcile.SandboxSuspended, `"parked"`: reconcile.SandboxStopped, `"dented"`: reconcile.SandboxFailed,
		`"scrapping"`: reconcile.SandboxDeleting, `"melting"`: reconcile.SandboxUnknown, `""`: reconcile.SandboxUnknown,
		`"Placed"`: reconcile.SandboxUnknown, `null`: reconcile.SandboxUnknown, `{"now":"placed"}`: reconcile.SandboxUnknown,
		`["placed"]`: reconcile.SandboxUnknown, `1`: reconcile.SandboxUnknown,
	} {
		s := &script{answer: says(reply{status: 200, body: `{"box":{"box_id":"b-1","phase":` + word + `}}`})}
		if got, err := ask(t, s).Get(t.Context(), "b-1"); err != nil || got.State != want {
			t.Errorf("Get of one that is %s = %q, %v; want %q", word, got.State, err, want)
		}
	}
}

// Gone is what the description is certain of, and never against the guards.
func TestGone(t *testing.T) {
	const words = `{"fault":{"kind":"no_such_box","text":"the yard has no box b-1"}}`
	eager := func(a *entry.API) { a.Absent = "status >= 200" } // an operator's mistake
	for name, test := range map[string]struct {
		reply
		sloppy bool
		gone   bool
	}{
		"the words":                      {reply: reply{status: 404, body: words}, gone: true},
		"another fault":                  {reply: reply{status: 404, body: `{"fault":{"kind":"no_such_route"}}`}},
		"no fault":                       {reply: reply{status: 404, body: `{}`}},
		"a fault that is none":           {reply: reply{status: 404, body: `{"fault":"no_such_box"}`}},
		"a list":                         {reply: reply{status: 404, body: `[]`}},
		"half of the words":              {reply: reply{status: 404, body: words[:30]}},
		"an empty answer":                {reply: reply{status: 404}},
		"the words on a page":            {reply: reply{status: 404, body: words, kind: "text/html"}},
		"the words and a 500":            {reply: reply{status: 500, body: words}},
		"sloppy, a page":                 {reply: reply{status: 404, body: "<html>", kind: "text/html"}, sloppy: true},
		"sloppy, a refused credential":   {reply: reply{status: 401, body: words}, sloppy: true},
		"sloppy, forbidden":              {reply: reply{status: 403, body: words}, sloppy: true},
		"sloppy, a limit":                {reply: reply{status: 429, body: words}, sloppy: true},
		"sloppy, broken":                 {reply: reply{status: 502, body: words}, sloppy: true},
		"sloppy, broken without words":   {reply: reply{status: 503}, sloppy: true},
		"sloppy, and that is what it is": {reply: reply{status: 404, body: `{}`}, sloppy: true, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // for no waiting before repeats
				s := &script{answer: says(test.reply)}
				p := ask(t, s)
				if test.sloppy {
					p = ask(t, s, eager)
				}
				if _, err := p.Get(t.Context(), "b-1"); err == nil || errors.Is(err, reconcile.ErrNotFound) != test.gone {
					t.Errorf("Get = %v, want gone %t", err, test.gone)
				}
				how, err := p.Terminate(t.Context(), mine)
				if (how == reconcile.TerminateGone) != test.gone || (err == nil) != test.gone {
					t.Errorf("Terminate = %q, %v; want gone %t", how, err, test.gone)
				}
				for _, r := range s.asked {
					if r.Method == http.MethodDelete {
						t.Error("what could not be looked at was deleted")
					}
				}
			})
		})
	}
}

// afterLook answers a look with a running box, and the change itself with the reply.
func afterLook(out reply) func(*http.Request) reply {
	return func(r *http.Request) reply {
		if r.Method == http.MethodGet {
			return reply{status: 200, body: `{"box":` + one + `}`}
		}
		return out
	}
}

func TestChanges(t *testing.T) {
	done := func(a *entry.API) {
		a.Delete.Done = "status == 204"
		a.Delete.Refused = `body.fault.kind == "kept"`
		a.Delete.Busy = `status == 423 or body.fault.kind == "moving"`
	}
	for name, test := range map[string]struct {
		reply
		want reconcile.Termination
		kind error // of the error; nil with an empty want: any
	}{
		"accepted":                {reply: reply{status: 202, body: `{}`}, want: reconcile.TerminateAccepted},
		"done":                    {reply: reply{status: 204, kind: "text/plain"}, want: reconcile.TerminateDone},
		"gone meanwhile":          {reply: reply{status: 404, body: `{"fault":{"kind":"no_such_box"}}`}, want: reconcile.TerminateGone},
		"refused":                 {reply: reply{status: 418, body: `{"fault":{"kind":"kept"}}`}, want: reconcile.TerminateRefused},
		"refused, and says 200":   {reply: reply{status: 200, body: `{"fault":{"kind":"kept","text":"pinned"}}`}, want: reconcile.TerminateRefused},
		"busy, and says 200":      {reply: reply{status: 200, body: `{"fault":{"kind":"moving"}}`}, kind: reconcile.ErrHeld},
		"busy":                    {reply: reply{status: 423, body: `{}`}, kind: reconcile.ErrHeld},
		"a page":                  {reply: reply{status: 200, body: "<html>", kind: "text/html"}},
		"half an answer":          {reply: reply{status: 200, body: `{"queued":`}},
		"a bad request":           {reply: reply{status: 400, body: `{}`}},
		"no rights":               {reply: reply{status: 403, body: `{"fault":{"kind":"kept"}}`}, kind: reconcile.ErrUnauthorized},
		"too often":               {reply: reply{status: 429, body: `{"fault":{"kind":"kept"}}`}, kind: reconcile.ErrThrottled},
		"broken":                  {reply: reply{status: 500, body: `{"fault":{"kind":"kept"}}`}},
		"no rights, and it moves": {reply: reply{status: 403, body: `{"fault":{"kind":"moving"}}`}, kind: reconcile.ErrUnauthorized},
		"broken, and it moves":    {reply: reply{status: 500, body: `{"fault":{"kind":"moving"}}`}},
		"it moves":                {reply: reply{status: 409, body: `{"fault":{"kind":"moving"}}`}, kind: reconcile.ErrHeld},
		"a route that is none":    {reply: reply{status: 404, body: `{"fault":{"kind":"no_such_route"}}`}},
	} {
		s := &script{answer: afterLook(test.reply)}
		how, err := ask(t, s, done).Terminate(t.Context(), mine)
		settled := test.want != "" && test.want != reconcile.TerminateRefused
		held := errors.Is(err, reconcile.ErrHeld) != errors.Is(test.kind, reconcile.ErrHeld)
		if how != test.want || (err == nil) != settled || test.kind != nil && !errors.Is(err, test.kind) || held {
			t.Errorf("%s: Terminate = %q, %v; want %q, %v", name, how, err, test.want, test.kind)
		}
		if n := len(s.asked); n != 2 {
			t.Errorf("%s: %d calls, want a look and one delete", name, n)
		}
	}
}

// A stop that would delete is refused, also where that is not known.
func TestStopDeletes(t *testing.T) {
	for field, refused := range map[string]bool{
		`,"temporary":false`: false, `,"temporary":true`: true, ``: true, `,"temporary":null`: true, `,"temporary":"no"`: true,
		`,"temporary":0`: true,
	} {
		body := `{"box":` + strings.TrimSuffix(one, "}") + field + `}}`
		s := &script{answer: says(reply{status: 200, body: body})}
		how, err := ask(t, s).Suspend(t.Context(), mine)
		if (how == reconcile.TerminateRefused) != refused || (err != nil) != refused || refused != (len(s.asked) == 1) {
			t.Errorf("Suspend of one with %q = %s, %v after %d calls; want refused %t", field, how, err, len(s.asked), refused)
		}
	}
	resting := &script{answer: says(reply{status: 200, body: `{"box":` + strings.Replace(one, "placed", "stopping", 1) + `}`})}
	if how, err := ask(t, resting).Suspend(t.Context(), mine); how != reconcile.TerminateAccepted || err != nil {
		t.Errorf("Suspend of one on its way = %s, %v; want accepted", how, err)
	}
}

func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			run, ls reply
			want    reconcile.ProbeOutcome
		}{
			"well": {want: reconcile.Answered},
			"another exit code is an answer": {run: reply{status: 200, body: `{"result":{"code":3,"out":"no"}}`},
				want: reconcile.Answered},
			"no process":           {run: reply{status: 200, body: `{"result":{"code":-1}}`}, want: reconcile.CannotStart},
			"no exit code":         {run: reply{status: 200, body: `{"result":{}}`}, want: reconcile.Infrastructure},
			"a word for a code":    {run: reply{status: 200, body: `{"result":{"code":"0"}}`}, want: reconcile.Infrastructure},
			"a huge code":          {run: reply{status: 200, body: `{"result":{"code":1e300}}`}, want: reconcile.Infrastructure},
			"an empty answer":      {run: reply{status: 200}, want: reconcile.Infrastructure},
			"a page":               {run: reply{status: 200, kind: "text/html", body: "<html>"}, want: reconcile.Infrastructure},
			"a gateway's page":     {run: reply{status: 502, kind: "text/html", body: "<html>"}, want: reconcile.CannotStart},
			"a limit":              {run: reply{status: 429, body: `{}`}, want: reconcile.Infrastructure},
			"a refused credential": {run: reply{status: 401, body: `{}`}, want: reconcile.Infrastructure},
			"a redirect":           {run: reply{status: 302}, want: reconcile.Infrastructure},
			"it rests":             {run: reply{status: 409, body: `{}`}, want: reconcile.NotAllowed},
			"too slow":             {run: reply{status: 504, body: `{}`}, want: reconcile.Hung},
			"files are broken":     {ls: reply{status: 500, body: `{}`}, want: reconcile.CannotStart},
			"no list":              {ls: reply{status: 200, body: `{"names":{}}`}, want: reconcile.Infrastructure},
			"no such folder":       {ls: reply{status: 404, body: `{}`}, want: reconcile.Infrastructure},
		} {
			s := &script{answer: func(r *http.Request) reply {
				switch {
				case strings.HasSuffix(r.URL.Path, "/run") && test.run.status != 0:
					return test.run
				case strings.HasSuffix(r.URL.Path, "/run"):
					return reply{status: 200, body: `{"result":{"code":0,"out":""}}`}
				case test.ls.status != 0:
					return test.ls
				}
				return reply{status: 200, body: `{"names":["bin"]}`}
			}}
			p := reconcile.ProbePolicy{Exec: `echo "</>" & {id}`, Path: "/a b", Timeout: time.Second}
			if got := ask(t, s).Probe(t.Context(), mine, p); got.Outcome != test.want || got.Detail == "" {
				t.Errorf("%s: Probe = %+v, want %s", name, got, test.want)
			}
			for i, r := range s.asked {
				body := s.sent[i]
				if r.Method == http.MethodPost && body != `{"cmd":["sh","-c","echo \"\u003c/\u003e\" \u0026 {id}"],"seconds":1}` {
					t.Errorf("%s: the body is %s", name, body)
				}
				if r.Method == http.MethodGet && r.URL.RawQuery != "path=%2Fa+b" {
					t.Errorf("%s: asked for the files by %s", name, r.URL.RawQuery)
				}
			}
		}
	})
}

// A description that is too eager does not convict a sandbox by what is not its own fault.
func TestEagerProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eager := func(a *entry.API) {
			a.Exec.Broken, a.Exec.Hung, a.Exec.Resting = "status >= 300", "status == 403", "status == 429"
			a.Exec.Exit = "0"
		}
		for out, want := range map[reply]reconcile.ProbeOutcome{
			{status: 401, body: `{}`}:                        reconcile.Infrastructure,
			{status: 403, body: `{}`}:                        reconcile.Infrastructure,
			{status: 429, body: `{}`}:                        reconcile.Infrastructure,
			{status: 404, kind: "text/html", body: "<html>"}: reconcile.Infrastructure,
			{status: 200, kind: "text/html", body: "<html>"}: reconcile.Infrastructure,
			{status: 404, body: `{}`}:                        reconcile.CannotStart,
			{status: 502, kind: "text/html", body: "<html>"}: reconcile.CannotStart,
		} {
			got := ask(t, &script{answer: says(out)}, eager).Probe(t.Context(), mine, reconcile.ProbePolicy{Exec: "true", Timeout: time.Second})
			if got.Outcome != want {
				t.Errorf("Probe answered %+v = %+v, want %s", out, got, want)
			}
		}
	})
}

// What is not described is denied, and nothing is called.
func TestUndescribed(t *testing.T) {
	s := &script{answer: says(reply{status: 200, body: `{"box":` + one + `}`})}
	p := ask(t, s, func(a *entry.API) {
		*a = entry.API{Absent: a.Absent, List: a.List, Get: a.Get, Sandbox: a.Sandbox, States: a.States}
	})
	how, err := p.Terminate(t.Context(), mine)
	if how != reconcile.TerminateRefused || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Terminate = %s, %v", how, err)
	}
	if how, err := p.Suspend(t.Context(), mine); how != reconcile.TerminateRefused || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Suspend = %s, %v", how, err)
	}
	if err := p.Resume(t.Context(), mine); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Resume = %v", err)
	}
	if _, err := p.Logs(t.Context(), mine, 10); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Logs = %v", err)
	}
	got := p.Probe(t.Context(), mine, reconcile.ProbePolicy{Exec: "true", Path: "/"})
	if got.Outcome != reconcile.NotAllowed || len(s.asked) > 0 {
		t.Errorf("Probe = %+v after %d calls", got, len(s.asked))
	}
}

// The credential goes where the description says, and is never shown.
func TestCredentials(t *testing.T) {
	s := &script{answer: func(r *http.Request) reply {
		return reply{status: 400, body: fmt.Sprintf(`{"fault":{"text":"no: %s %s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Team"))}
	}}
	for want, headers := range map[string]map[string]string{
		"Bearer " + token:        nil,
		"Basic azN5LWszeS1rM3k=": {"Authorization": "Basic {token_base64}"},
		"":                       {"X-Team": "s3cret-s3cret"},
	} {
		s.asked = nil
		p := ask(t, s, func(a *entry.API) { a.Headers = headers; a.Get.Headers = map[string]string{"X-Only": "get"} })
		_, err := p.Get(t.Context(), "b-1")
		if err == nil || strings.Contains(err.Error(), "k3y") || strings.Contains(err.Error(), "azN5") ||
			strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "[token]") {
			t.Errorf("Get = %v, want the words without a secret", err)
		}
		if got := s.asked[0].Header; got.Get("Authorization") != want || got.Get("X-Only") != "get" {
			t.Errorf("sent %v, want %q", got, want)
		}
	}
}

// A sandbox's own address is chosen by whoever may make one. It is asked over TLS alone, without
// the credential and without the headers of every call, save those that the call itself has.
func TestElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			address, path string
			own           map[string]string
			asked         int
			want          string // Authorization and X-Team
		}{
			"its own address":                 {"https://b-1.boxes.test/", "{endpoint}/run", nil, 1, "|"},
			"that asks for the token":         {"https://b-1.boxes.test", "{endpoint}/run", bearer, 1, "Bearer " + token + "|"},
			"in base64":                       {"https://b-1.boxes.test", "{endpoint}/run", basic, 1, "Basic azN5LWszeS1rM3k=|"},
			"on the platform's host":          {"https://yard.test/b-1", "{endpoint}/run", nil, 1, "Bearer " + token + "|s3cret"},
			"on another port of it":           {"https://yard.test:444", "{endpoint}/run", nil, 1, "|"},
			"whose name begins like its name": {"https://yard.test.evil.test", "{endpoint}/run", nil, 0, ""},
			"on a host that is not listed":    {"https://boxes.test", "{endpoint}/run", nil, 0, ""},
			"a service of our own network":    {"https://169.254.169.254", "{endpoint}/run", bearer, 0, ""},
			"a host of the description":       {"", "https://run.test/{id}", nil, 1, "|"},
			"in the clear":                    {"http://10.0.0.1", "{endpoint}/run", nil, 0, ""},
			"that would lose the path":        {"https://b-1.boxes.test/#", "{endpoint}/run", bearer, 0, ""},
			"that would lose it in a query":   {"https://b-1.boxes.test/?", "{endpoint}/run", bearer, 0, ""},
			"a file":                          {"file:///etc", "{endpoint}/run", nil, 0, ""},
		} {
			s := &script{answer: says(reply{status: 200, body: `{"result":{"code":0}}`})}
			p := ask(t, s, func(a *entry.API) {
				a.Headers = map[string]string{"Authorization": "Bearer {token}", "X-Team": "s3cret"}
				a.Exec.Path, a.Exec.Headers, a.Sandbox.Endpoint, a.Files = test.path, test.own, "at", entry.APIFiles{}
			})
			at := mine
			at.Endpoint = test.address
			if test.address == "" {
				at.Endpoint = "https://b-1.test" // is not asked for
			}
			got := p.Probe(t.Context(), at, reconcile.ProbePolicy{Exec: "true", Timeout: time.Second})
			if len(s.asked) != test.asked || (got.Outcome == reconcile.Answered) != (test.asked == 1) {
				t.Errorf("%s: Probe = %+v after %d calls, want %d", name, got, len(s.asked), test.asked)
				continue
			}
			for _, r := range s.asked {
				if sent := r.Header.Get("Authorization") + "|" + r.Header.Get("X-Team"); sent != test.want {
					t.Errorf("%s: sent %q to %s, want %q", name, sent, r.URL, test.want)
				}
			}
		}
	})
}

var (
	bearer = map[string]string{"authorization": "Bearer {token}"}
	basic  = map[string]string{"Authorization": "Basic {token_base64}"}
)

// Where a platform repeats the call that it refuses, secrets in it are not shown: what variables
// stood for, and what stands under the name of a secret.
func TestSecretsOfCalls(t *testing.T) {
	s := &script{}
	s.answer = func(r *http.Request) reply {
		n := len(s.sent) - 1
		return reply{status: 400, body: fmt.Sprintf(`{"fault":{"text":%q}}`, "no: "+r.URL.RequestURI()+" "+s.sent[n]+r.Header.Get("X-Two"))}
	}
	p := ask(t, s, func(a *entry.API) {
		a.Variables = []string{"botpath1", "long-secret-and-more", "long-secret", "eu"}
		a.Get = entry.APIGet{Path: "/botpath1/{id}?api_key=literal-1&page_size=hundred&x=long-secret-and-more", Method: "POST",
			Body:    `{id: id, "password": "literal-2", zone: "north-east", token_name: 'literal-3'}`,
			Headers: map[string]string{"X-Two": "literal-4"}}
	})
	_, err := p.Get(t.Context(), "b-1")
	if err == nil {
		t.Fatal("Get = nil, want what the platform says")
	}
	for _, secret := range []string{"botpath1", "literal", "long-secret", "and-more"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("Get = %v, want it without %s", err, secret)
		}
	}
	for _, word := range []string{"b-1", "hundred", "north-east", "page_size", "[token]"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("Get = %v, want it with %s", err, word)
		}
	}
}
