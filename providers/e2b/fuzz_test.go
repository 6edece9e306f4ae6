package e2b

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An oracle answers every call with the same words, and keeps who was told which secret.
type oracle struct {
	reply

	mu    sync.Mutex // a probe asks two things at once
	wrong []string
}

func (o *oracle) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	api := r.URL.Host == "lab.test"
	if api != (r.Header.Get("X-API-Key") != "") || api && r.Header.Get("X-Access-Token") != "" || r.URL.Scheme != "https" {
		o.wrong = append(o.wrong, r.URL.String())
	}
	if strings.Contains(r.URL.Path, "connect") || strings.Contains(r.URL.Path, "timeout") {
		o.wrong = append(o.wrong, r.URL.String())
	}
	return &http.Response{StatusCode: o.status, Header: http.Header{"Content-Type": {o.kind}}, Request: r,
		Body: io.NopCloser(bytes.NewReader([]byte(o.body))), ProtoMajor: 1, ProtoMinor: 1}, nil
}

// FuzzAnswers gives one answer to everything that is asked. Whatever it is: no panic; what is
// no page is no listing; a state that is not known stays unknown; only words that say so mean
// gone; nothing is woken; and each secret goes where it belongs.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		"", "null", "[]", "{}", "1", `""`, `[null]`, `[{}]`, `[{"sandboxID":5}]`, `[{"sandboxID":"i1","state":"melted","metadata":7}]`,
		`[{"sandboxID":"i1","state":"running","metadata":{"project":null}}]`, `{"sandboxID":"i1","state":"running"}`,
		`{"sandboxID":"i1","state":"running","envdAccessToken":"t0ken","domain":"eu.test"}`,
		`{"sandboxID":"i1","state":"running","domain":"evil.test/x"}`, `{"sandboxID":"i1","state":"running","domain":"a@b:5"}`,
		`{"sandboxID":"i1","state":"running","lifecycle":{"autoResume":"yes"},"endAt":1}`, `{"sandboxID":"i2","state":"paused"}`,
		`{"code":404,"message":"Sandbox \"i1\" doesn't exist or you don't have access to it"}`, `{"code":"not_found","message":"x"}`,
		`{"message":"The sandbox was not found","code":502}`, `<html>`, "\x02\x00\x00\x00\x02{}", `{"templateID":"..","builds":[{}]}`,
		`{"templateID":"t","builds":[{"buildID":"","status":"ready"}]}`, `{"logs":[{"message":"s3cret-key"}]}`, "\xef\xbb\xbf{}",
	} {
		for _, status := range []int{200, 204, 404, 502} {
			f.Add(status, js, body)
		}
		f.Add(200, "text/html", body)
		f.Add(200, stream, body)
	}
	f.Fuzz(func(t *testing.T, status int, kind, body string) {
		if status < 200 || status > 599 || status == 429 || status == 503 {
			t.Skip() // no answers, or such that are waited for
		}
		o := &oracle{reply: reply{status: status, kind: kind, body: body}}
		p, err := New(entry.Entry{Name: "lab", URL: "https://lab.test", Token: "s3cret-key", Timeout: time.Minute,
			Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id", Sandbox: "id"},
			Extra: map[string]string{"domain": "sandboxes.test"}}, entry.Options{Transport: o})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) { o.asks(t, p) }) // for no waiting before repeats
		if len(o.wrong) > 0 {
			t.Errorf("it asked %q", o.wrong)
		}
	})
}

func (o *oracle) asks(t *testing.T, p *Provider) {
	ctx := t.Context()
	listing, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			if known := s.Raw == "running" || s.Raw == "paused"; s.ID == "" || known != (s.State != reconcile.SandboxUnknown) {
				t.Errorf("listed %+v", s)
			}
		}
		return nil
	})
	if listing.Complete && (err != nil || o.status/100 != 2 || !strings.HasPrefix(strings.TrimSpace(o.body), "[")) {
		t.Errorf("List of %q = %+v, %v; want it incomplete", o.body, listing, err)
	}
	s, err := p.Get(ctx, "i1")
	if gone := errors.Is(err, reconcile.ErrNotFound); gone && (o.status != 404 && o.status != 410 || !strings.Contains(o.body, "message")) {
		t.Errorf("Get of %q = %v, want no news that it is gone", o.body, err)
	}
	if err == nil && s.ID != "i1" {
		t.Errorf("Get of %q = %+v", o.body, s)
	}
	s = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "i1"}, State: reconcile.SandboxRunning, Raw: "running"}
	if got := p.Probe(ctx, s, policy); got.Outcome == reconcile.Answered || got.Outcome == "" {
		t.Errorf("Probe with one answer for all = %+v", got) // a sandbox, a stream and a file list differ
	}
	_, _ = p.Template(ctx, "dev")
	_, _ = p.Usage(ctx, s)
	if text, err := p.Logs(ctx, s, 100); strings.Contains(text, "s3cret-key") || err != nil && strings.Contains(err.Error(), "s3cret-key") {
		t.Errorf("Logs = %q, %v; want the key left out", text, err)
	}
	if how, err := p.Terminate(ctx, s); how == reconcile.TerminateDone && o.status != 204 || err == nil && how == "" {
		t.Errorf("Terminate of %q = %q, %v", o.body, how, err)
	}
}
