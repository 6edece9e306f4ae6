package daytona_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/providers/daytona"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const fuzzToken = "dtn_t0ken_t0ken"

// An oracle answers every call with the same words, and the second page of a listing with
// the last one. It keeps what it was asked.
type oracle struct {
	status int
	header http.Header
	body   []byte

	mu    sync.Mutex // a probe asks two things at once
	asked []*url.URL
	hosts map[string]bool
}

func (o *oracle) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, r.URL)
	if r.Header.Get("Authorization") != "" {
		o.hosts[r.URL.Scheme+"://"+r.URL.Host] = true
	}
	status, header, body := o.status, o.header, o.body
	if r.URL.Query().Get("cursor") != "" {
		status, header, body = 200, http.Header{"Content-Type": {"application/json"}}, []byte(`{"items": [], "nextCursor": null}`)
	}
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

// asks makes a provider that hears the oracle alone.
func asks(t *testing.T, o *oracle) *daytona.Provider {
	t.Helper()
	o.hosts = map[string]bool{}
	p, err := daytona.New(entry.Entry{Name: "lab", URL: "https://lab.test/api", Token: fuzzToken, Timeout: time.Minute,
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id", Sandbox: "id"},
	}, entry.Options{Transport: o})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recorded are answers of the protocol simulator, which the vendor's own client reads too.
func recorded(f *testing.F) []string {
	f.Helper()
	world := simulated.New(simulated.Options{})
	world.Put(simulated.Sandbox{ID: "sb-1", Name: "one", CreatedAt: time.Now(), Labels: map[string]string{"project": "mine", "task_id": "t1"}})
	world.Put(simulated.Sandbox{ID: "sb-2", Name: "two", CreatedAt: time.Now(), Labels: map[string]string{"project": "mine"}})
	server := httptest.NewServer(daytonatest.New(world, daytonatest.Options{TaskLabel: "task_id"}))
	defer server.Close()
	bodies := []string{}
	for _, path := range []string{"sandbox?limit=1", "sandbox?limit=200", "sandbox/sb-1", "sandbox/none", "snapshots/none", "api-keys/current", "nowhere"} {
		r, err := http.NewRequest(http.MethodGet, server.URL+"/api/"+path, nil)
		if err != nil {
			f.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer key")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			f.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || len(body) == 0 {
			f.Fatalf("%s = %q, %v", path, body, err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

// odd are bodies that are nearly right.
var odd = []string{
	"", "null", "[]", "{}", "1", `""`, `{"items": null, "nextCursor": null}`, `{"items": []}`, `{"items": [null], "nextCursor": null}`,
	`{"items": {}, "nextCursor": null}`, `{"items": "x"}`, `{"items": [{"id": 5}], "nextCursor": null}`, `{"items": [{}], "nextCursor": null}`,
	`{"items": [{"id": "a"}, {"id": "a"}], "nextCursor": "x&limit=1"}`, `{"items": [], "nextCursor": 5}`, `{"items": [{"id": "\u0000/../x"}], "nextCursor": null}`,
	`{"Items": [], "NextCursor": null}`, `{"items": [{"id": "a", "state": "melted", "labels": 7, "createdAt": "soon"}], "nextCursor": null}`,
	`{"items": [{"id": "a", "labels": {"project": null}}], "nextCursor": null} x`, `{"items": [{"id": "a"`, `{"id": "sb-1", "state": "destroyed"}`,
	`{"id": "sb-1", "state": "started", "toolboxProxyUrl": "https://evil.test/#"}`, `{"id": "sb-1", "state": "started", "toolboxProxyUrl": "http://evil.test"}`,
	`{"id": "sb-2"}`, `{"statusCode": 404, "message": "Sandbox not found"}`, `{"message": ["a", 5]}`, `{"message": "dtn_t0ken_t0ken"}`,
	`{"exitCode": -1, "result": "fork"}`, `{"exitCode": 1e400}`, `[{"name": "etc"}]`, `{"cpuUsedPct": 1e308, "MemTotal": -1}`, `<html>`, "\xef\xbb\xbf{}",
	`{"regionUsage": [{"totalCpuQuota": 1e308}], "totalSnapshotQuota": -0}`, `{"regionUsage": []}`, `{"url": "https://toolbox.test/x"}`,
	`{"items": [{"id": "a"}], "items": [], "nextCursor": null}`,
}

// FuzzAnswers gives one answer to everything that is asked. Whatever it is: no panic; what is
// no page is an error and no empty listing; ids are those of the answer; a state that is not
// known stays unknown; only an answer that says so means gone; and the token goes to nobody.
func FuzzAnswers(f *testing.F) {
	for _, body := range append(recorded(f), odd...) {
		for _, status := range []int{200, 404, 500} {
			f.Add(status, "application/json", "", []byte(body))
		}
	}
	for _, status := range []int{100, 204, 301, 302, 400, 401, 403, 408, 409, 410, 418, 429, 502, 503, 504, 599, 999} {
		f.Add(status, "application/json; charset=utf-8", "1", []byte(`{"message": "no", "statusCode": 404}`))
		f.Add(status, "text/html", "Wed, 21 Oct 2026 07:28:00 GMT", []byte("<html>"))
	}
	f.Fuzz(func(t *testing.T, status int, kind, retry string, body []byte) {
		if status < 100 || status > 999 || len(body) > 1<<16 {
			return
		}
		o := &oracle{status: status, body: body, header: http.Header{"Content-Type": {kind}, "Retry-After": {retry}, "X-Ratelimit-Remaining": {retry}}}
		synctest.Test(t, func(t *testing.T) { // for no waiting before repeats
			o.listed(t)
			o.got(t)
			o.ended(t)
			o.rest(t)
		})
	})
}

// a page as encoding/json reads it, with nothing but what is checked here.
type plainPage struct {
	Items []map[string]json.RawMessage `json:"items"`
}

func (o *oracle) listed(t *testing.T) {
	t.Helper()
	p, ctx := asks(t, o), t.Context()
	var found []reconcile.Sandbox
	listing, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		found = append(found, page...)
		return nil
	})
	o.keeps(t, fmt.Sprint(err))
	if err != nil {
		if listing.Complete {
			t.Fatalf("an incomplete listing calls itself complete: %v", err)
		}
		return
	}
	var page plainPage
	if err := json.Unmarshal(o.body, &page); o.status/100 != 2 || err != nil || page.Items == nil {
		t.Fatalf("%d %q is listed as %d sandboxes, and is no page: %v", o.status, o.body, len(found), err)
	}
	if bytes.Count(o.body, []byte(`items"`)) > 1 || !utf8.Valid(o.body) || bytes.ContainsRune(o.body, '\ufffd') || bytes.Contains(o.body, []byte(`\u`)) {
		return // two lists in one page, or texts that JSON readers mend in ways of their own
	}
	met := map[string]bool{}
	for i, item := range page.Items {
		var id, state, desired string
		if json.Unmarshal(item["id"], &id) != nil || id == "" {
			t.Fatalf("item %d of %q has no id, and was listed", i, o.body)
		}
		if met[id] {
			continue
		}
		met[id] = true
		at := slices.IndexFunc(found, func(s reconcile.Sandbox) bool { return s.ID == id })
		if at < 0 {
			t.Fatalf("%q is not listed of %q: %+v", id, o.body, found)
		}
		_, _ = json.Unmarshal(item["state"], &state), json.Unmarshal(item["desiredState"], &desired)
		if s := found[at]; !knownStates[state] && desired != "destroyed" && (s.State != "" || s.Raw != state) && !(state == "unknown" && desired == "started") {
			t.Fatalf("state %q becomes %q (%q)", state, s.State, s.Raw)
		}
	}
	if len(met) != len(found) {
		t.Fatalf("%d sandboxes are listed of %q, which has %d", len(found), o.body, len(met))
	}
}

var knownStates = map[string]bool{
	"creating": true, "starting": true, "restoring": true, "resuming": true, "pulling_snapshot": true, "building_snapshot": true, "pending_build": true,
	"forking": true, "started": true, "resizing": true, "snapshotting": true, "paused": true, "pausing": true, "archived": true, "archiving": true,
	"stopped": true, "stopping": true, "error": true, "build_failed": true, "destroying": true, "destroyed": true,
}

func (o *oracle) got(t *testing.T) {
	t.Helper()
	p, ctx := asks(t, o), t.Context()
	s, err := p.Get(ctx, "sb-1")
	o.keeps(t, fmt.Sprint(err))
	switch {
	case err == nil && (s.ID != "sb-1" || o.status/100 != 2):
		t.Fatalf("%d %q is sandbox %q", o.status, o.body, s.ID)
	case errors.Is(err, reconcile.ErrNotFound) && o.status != 404 && o.status != 410 && !(o.status/100 == 2 && bytes.Contains(o.body, []byte(`id"`))):
		t.Fatalf("%d %q means gone: %v", o.status, o.body, err)
	case errors.Is(err, reconcile.ErrUnauthorized) != (o.status == 401 || o.status == 403):
		t.Fatalf("%d means %v", o.status, err)
	}
}

func (o *oracle) ended(t *testing.T) {
	t.Helper()
	p, ctx := asks(t, o), t.Context()
	how, err := p.Terminate(ctx, reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}, Owned: true, State: reconcile.SandboxRunning})
	o.keeps(t, fmt.Sprint(err))
	switch how {
	case reconcile.TerminateGone, reconcile.TerminateDone, reconcile.TerminateAccepted, reconcile.TerminateChanged:
		if o.status/100 != 2 && o.status != 404 && o.status != 410 {
			t.Fatalf("%d %q ends a sandbox: %s, %v", o.status, o.body, how, err)
		}
	case "", reconcile.TerminateRefused:
		if err == nil {
			t.Fatalf("%d %q: neither ended nor an error", o.status, o.body)
		}
	}
}

// rest asks for all else. What is told of it to people is short.
func (o *oracle) rest(t *testing.T) {
	t.Helper()
	p, ctx := asks(t, o), t.Context()
	s := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb-1"}, State: reconcile.SandboxRunning, Owned: true}
	said := []string{}
	probe := p.Probe(ctx, s, reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Second})
	if probe.Outcome == reconcile.Answered && o.status != 200 {
		t.Fatalf("%d %q is an answered probe", o.status, o.body)
	}
	said = append(said, probe.Detail)
	template, err := p.Template(ctx, "gpu")
	if err == nil && template.State == reconcile.TemplateMissing && o.status != 404 && o.status != 410 {
		t.Fatalf("%d %q means that a template is missing", o.status, o.body)
	}
	said = append(said, template.Error, fmt.Sprint(err))
	quotas, err := p.Quotas(ctx)
	for _, q := range quotas {
		if !(q.Limit > 0) {
			t.Fatalf("%q has the quota %+v", o.body, q)
		}
	}
	said = append(said, fmt.Sprint(err))
	for _, line := range p.Check(ctx) {
		said = append(said, line.Said)
	}
	log, err := p.Logs(ctx, s, 100)
	if len(log) > 100 || !utf8.ValidString(log) {
		t.Fatalf("%q has the log %q", o.body, log)
	}
	_, usage := p.Usage(ctx, s)
	_, found := p.Find(ctx, "t1")
	o.keeps(t, append(said, log, fmt.Sprint(err), fmt.Sprint(usage), fmt.Sprint(found), fmt.Sprint(p.Activate(ctx, "gpu")))...)
}

// keeps: the token is in nothing that is shown and went to nobody but the API and a toolbox
// over https; what is shown is short.
func (o *oracle) keeps(t *testing.T, shown ...string) {
	t.Helper()
	for _, text := range shown {
		if strings.Contains(text, fuzzToken) || len(text) > 4000 {
			t.Fatalf("shown: %q", text)
		}
	}
	for host := range o.hosts {
		if !strings.HasPrefix(host, "https://") {
			t.Fatalf("the token went to %s", host)
		}
	}
	for _, u := range o.asked {
		if cursor := u.Query()["cursor"]; u.Host == "lab.test" && (len(cursor) > 1 || len(u.Query()["limit"]) > 1 || !strings.HasPrefix(u.Path, "/api/")) {
			t.Fatalf("asked for %s", u)
		}
	}
}

// FuzzIDs: an id asks for itself and nothing else, or for nothing at all.
func FuzzIDs(f *testing.F) {
	for _, id := range []string{"sb-1", "", ".", "..", "../x", "a/b", "a?b=c", "a#b", "a%2fb", "%", "a\nb", "a b", "ü", "\xff", "a;b", "a:b@c", "//evil.test/x", strings.Repeat("x", 513)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		o := &oracle{status: 404, body: []byte(`{"message": "Sandbox not found"}`), header: http.Header{"Content-Type": {"application/json"}}}
		_, err := asks(t, o).Get(t.Context(), id)
		if err == nil {
			t.Fatalf("Get(%q) found something", id)
		}
		for _, u := range o.asked {
			if u.Host != "lab.test" || u.Path != "/api/sandbox/"+id || u.RawQuery != "" || u.Fragment != "" || strings.Count(u.EscapedPath(), "/") != 3 {
				t.Fatalf("Get(%q) asked for %s", id, u)
			}
		}
		if len(o.asked) == 0 && errors.Is(err, reconcile.ErrNotFound) {
			t.Fatalf("Get(%q) = %v without asking", id, err)
		}
	})
}
