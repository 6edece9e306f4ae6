package agentuity

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A reply is one answer: its status, its body, and headers in pairs.
type reply struct {
	status int
	body   string
	header []string
}

// A double answers in place of the API. Calls are named like "GET usc /sandbox"; the replies
// of one name are given one after the other, the last one again and again.
type double struct {
	mu      sync.Mutex
	replies map[string][]reply
	asked   []string // names
	sent    []string // names with query and body
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, _, _ := strings.Cut(strings.TrimPrefix(r.Host, "catalyst-"), ".")
	name := r.Method + " " + place + " " + r.URL.Path
	body, _ := io.ReadAll(r.Body)
	d.asked = append(d.asked, name)
	d.sent = append(d.sent, name+"?"+r.URL.RawQuery+" "+string(body))
	left := d.replies[name]
	if len(left) == 0 {
		left = d.replies[r.Method+" "+r.URL.Path] // of any region
	}
	if len(left) == 0 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if len(left) > 1 {
		d.replies[name] = left[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	w.Header().Set("X-Session-Id", "sess_12ab")
	for i := 0; i+1 < len(left[0].header); i += 2 {
		w.Header().Set(left[0].header[i], left[0].header[i+1])
	}
	w.WriteHeader(left[0].status)
	_, _ = io.WriteString(w, left[0].body)
}

// times is how often a call was made.
func (d *double) times(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, asked := range d.asked {
		if asked == name {
			n++
		}
	}
	return n
}

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// lab is an entry of the vendor's cloud, with one region.
func lab(change ...func(*entry.Entry)) entry.Entry {
	e := entry.Entry{Name: "lab", Kind: "agentuity", Token: "s3cret-key", Timeout: 5 * time.Second,
		Owns: entry.Owns{NamePrefix: "mine-"}, Link: entry.Link{Sandbox: "id"},
		Extra: map[string]string{"org": "org_1", "region": "usc"}}
	for _, c := range change {
		c(&e)
	}
	return e
}

func extra(key, value string) func(*entry.Entry) {
	return func(e *entry.Entry) { e.Extra[key] = value }
}

// over makes a provider that talks to a handler without a network.
func over(t testing.TB, h http.Handler, change ...func(*entry.Entry)) *Provider {
	t.Helper()
	p, err := New(lab(change...), entry.Options{Transport: wiretest.Transport(h)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func answering(replies map[string][]reply) *double { return &double{replies: replies} }

// with makes replies of one name.
func with(name string, answers ...reply) map[string][]reply { return map[string][]reply{name: answers} }

const one = `{"success":true,"data":{"sandboxId":"sbx_1","name":"mine-a","status":"idle","createdAt":` +
	`"2026-11-01T11:00:00.000Z","region":"usc","executions":0,"org":{"id":"org_1","name":"Lab"},` +
	`"snapshot":{"id":"snp_1","name":"base","tag":"v2"}}}`

func being(status string) string { return strings.Replace(one, `"idle"`, `"`+status+`"`, 1) }

const none = `{"success":false,"code":"SANDBOX_NOT_FOUND","message":"sandbox not found"}`

var sb1 = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sbx_1"}, Owned: true, Raw: "idle",
	State: reconcile.SandboxRunning, Region: "usc"}

var errAny = errors.New("any error that says nothing certain")

// is reports whether an error is the wanted one; errAny is none of the sentinels.
func is(err, want error) bool {
	if errors.Is(want, errAny) {
		return err != nil && !errors.Is(err, reconcile.ErrNotFound) && !errors.Is(err, reconcile.ErrUnauthorized) &&
			!errors.Is(err, reconcile.ErrThrottled)
	}
	return errors.Is(err, want)
}

// watch keeps the credentials of calls by path.
func watch(next http.Handler, heads map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heads[r.URL.Path] = r.Header.Get("Authorization") + "|" + r.Header.Get("X-Agentuity-Orgid")
		next.ServeHTTP(w, r)
	})
}
