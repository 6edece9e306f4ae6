package e2b

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const js = "application/json"

// A reply is one answer that a test makes up.
type reply struct {
	status int
	kind   string
	body   string
	header map[string]string
}

func (r reply) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	if r.kind != "" {
		w.Header().Set("Content-Type", r.kind)
	}
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body)
}

// transport asks a lab as anybody else would.
type transport struct{ *lab }

func (tr transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return wiretest.Transport(tr.lab).RoundTrip(r)
}

func answerOf(stream []byte) wire.Answer {
	return wire.Answer{Status: 200, Header: http.Header{"Content-Type": {"application/connect+json"}}, Body: stream}
}

var saidNothing wire.APIError

// A lab is a provider over a simulated vendor, without a network. What a test says of some
// calls is answered in the vendor's place.
type lab struct {
	*testing.T
	*Provider
	world  *simulated.World
	clock  *simulated.Clock
	vendor *e2btest.Server
	says   map[string]http.Handler // by method and path

	mu   sync.Mutex
	seen []*http.Request
}

func newLab(t *testing.T, change ...func(*entry.Entry)) *lab {
	t.Helper()
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	l := &lab{T: t, clock: clock, world: simulated.New(simulated.Options{Now: clock.Now, IDs: e2btest.ID}),
		says: map[string]http.Handler{}}
	l.vendor = e2btest.New(l.world, e2btest.Options{Key: "s3cret-key", TaskLabel: "task_id"})
	e := entry.Entry{Name: "lab", URL: "http://lab.test", Token: "s3cret-key", Timeout: 5 * time.Second,
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id", Sandbox: "id"},
		Extra: map[string]string{"sandbox_url": "http://lab.test", "domain": DefaultDomain}}
	for _, c := range change {
		c(&e)
	}
	p, err := New(e, entry.Options{Transport: wiretest.Transport(l), Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	l.Provider = p
	return l
}

func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.seen = append(l.seen, r)
	say := l.says[r.Method+" "+r.URL.Path]
	l.mu.Unlock()
	if say != nil {
		w.Header().Set("Date", l.clock.Now().Format(http.TimeFormat))
		say.ServeHTTP(w, r)
		return
	}
	l.vendor.ServeHTTP(w, r)
}

// put places a sandbox of ours.
func (l *lab) put(s simulated.Sandbox) reconcile.Sandbox {
	l.Helper()
	if s.Labels == nil {
		s.Labels = map[string]string{"project": "mine", "task_id": "t1"}
	}
	got, err := l.Get(l.Context(), l.world.Put(s).ID)
	if err != nil {
		l.Fatal(err)
	}
	return got
}

// list is the whole listing.
func (l *lab) list() (ids []string, err error) {
	_, err = l.List(l.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		return nil
	})
	return ids, err
}

func TestNew(t *testing.T) {
	for name, test := range map[string]struct {
		entry   entry.Entry
		want    string // in the error; "" when it opens
		api, in string // where the API is, and sandbox i1
	}{
		"the vendor's cloud": {entry.Entry{Token: "k"}, "", "https://api.e2b.app", "https://sandbox.e2b.app"},
		"its address alone": {
			entry.Entry{Token: "k", URL: "https://api.e2b.dev"}, "", "https://api.e2b.dev", "https://sandbox.e2b.dev",
		},
		"a domain of one's own": {
			entry.Entry{Token: "k", Extra: map[string]string{"domain": "sandboxes.example.org"}}, "",
			"https://api.sandboxes.example.org", "https://49983-i1.sandboxes.example.org",
		},
		"an address that tells the domain": {
			entry.Entry{Token: "k", URL: "https://api.example.org/"}, "", "https://api.example.org",
			"https://49983-i1.example.org",
		},
		"an address and another domain": {
			entry.Entry{Token: "k", URL: "https://api.e2b.app", Extra: map[string]string{"domain": "b.test"}}, "",
			"https://api.e2b.app", "https://49983-i1.b.test",
		},
		"one address for all sandboxes": {
			entry.Entry{Token: "k", URL: "http://10.0.0.5:3000", Extra: map[string]string{"sandbox_url": "http://10.0.0.5:3002/"}},
			"", "http://10.0.0.5:3000", "http://10.0.0.5:3002",
		},
		"an address that tells nothing": {
			entry.Entry{Token: "k", URL: "http://10.0.0.5:3000"}, "", "http://10.0.0.5:3000",
			"where the sandboxes are is not known",
		},
		"no token":            {entry.Entry{}, "needs a credential", "", ""},
		"a name as exception": {entry.Entry{Token: "k", Owns: entry.Owns{Except: entry.Class{NamePrefix: "x-"}}}, "have no names", "", ""},
		"a name as proof":     {entry.Entry{Token: "k", Owns: entry.Owns{NamePrefix: "x-"}}, "have no names", "", ""},
		"a name as link":      {entry.Entry{Token: "k", Link: entry.Link{Sandbox: "name"}}, "have no names", "", ""},
		"an address of none":  {entry.Entry{Token: "k", URL: "e2b.app"}, "must look like", "", ""},
		"a sandbox_url of none": {
			entry.Entry{Token: "k", Extra: map[string]string{"sandbox_url": "sandbox.e2b.app"}}, `sandbox_url "sandbox.e2b.app" must look`, "", "",
		},
		"a domain with a scheme": {
			entry.Entry{Token: "k", Extra: map[string]string{"domain": "https://e2b.app"}}, "domain must look", "", "",
		},
	} {
		p, err := New(test.entry, entry.Options{})
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: New = %v, want %q", name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: New = %v", name, err)
			continue
		}
		in, err := p.where(box{ID: "i1"})
		if err != nil {
			in = err.Error()
		}
		if api := p.client.At("x"); api != test.api+"/x" || !strings.HasPrefix(in, test.in) {
			t.Errorf("%s: the API is at %s and the sandbox at %s, want %s and %s", name, api, in, test.api, test.in)
		}
	}
}

// The control plane may say where a sandbox is. It must be a host, and it is asked over TLS.
func TestWhere(t *testing.T) {
	p := newLab(t, func(e *entry.Entry) { delete(e.Extra, "sandbox_url") }).Provider
	for name, test := range map[string]struct {
		b    box
		want string
		err  bool
	}{
		"a domain of its own":        {box{ID: "i1", Domain: "eu.test"}, "https://49983-i1.eu.test", false},
		"one of the vendor's":        {box{ID: "i1", Domain: "e2b.dev"}, "https://sandbox.e2b.dev", false},
		"a domain with a password":   {box{ID: "i1", Domain: "a:b@evil.test"}, "", true},
		"a domain with a query":      {box{ID: "i1", Domain: "evil.test/?x="}, "", true},
		"an id that is another host": {box{ID: "evil.test/i1", Domain: "eu.test"}, "", true},
	} {
		got, err := p.where(test.b)
		if (err != nil) != test.err || err == nil && got != test.want {
			t.Errorf("%s: where = %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// What the control plane says of a domain leads to no host but the entry's own, and the sandbox's token
// goes to no other.
func TestSandboxesStayAtTheirHosts(t *testing.T) {
	for domain, may := range map[string]bool{
		"evil.test": false, "e2b.app.evil.test": false, "corp.test": true, "e2b.dev": true, "localhost": false,
	} {
		l := newLab(t, func(e *entry.Entry) {
			delete(e.Extra, "sandbox_url")
			e.Hosts = []string{"*.corp.test", "*.e2b.dev"}
		})
		_, err := l.ask(t.Context(), box{ID: "i1", Domain: domain, Token: "t0ken-of-i1"}, wire.Call{URL: "/health"})
		if (err == nil) != may || (len(l.seen) == 1) != may {
			t.Errorf("a sandbox in %s: %v after %d calls, want it asked %t", domain, err, len(l.seen), may)
		}
	}
}

// A 404 means that the thing is not there only when the answer says so of the thing.
func TestCertain(t *testing.T) {
	said := func(words string) reply { return reply{404, js, `{"code":404,"message":"` + words + `"}`, nil} }
	for name, test := range map[string]struct {
		answer reply
		gone   bool
	}{
		"the vendor's words":          {said(`Sandbox \"i1\" doesn't exist or you don't have access to it`), true},
		"killed, and why":             {said(`Sandbox \"i1\" was killed at 2026-11-01T11:00:00Z due to timeout expiration`), true},
		"killed, and no more":         {said(`Sandbox \"i1\" was killed and is no longer available`), true},
		"former words":                {said(`sandbox \"i1\" doesn't exist`), true},
		"somebody else's words":       {said(`sandbox i1 not found`), true},
		"a 410":                       {reply{410, js, `{"code":410,"message":"Sandbox \"i1\" was killed and is no longer available"}`, nil}, true},
		"a router's words":            {said("no matching operation was found"), false},
		"another router's words":      {said("Route GET:/sandboxes/i1 not found"), false},
		"a gateway's words":           {said("no Route matched with those values"), false},
		"a page":                      {reply{404, "text/html", "<h1>sandbox not found</h1>", nil}, false},
		"text":                        {reply{404, "text/plain", "404 page not found", nil}, false},
		"nothing":                     {reply{404, js, "", nil}, false},
		"an error of another status":  {reply{404, js, `{"code":500,"message":"sandbox not found"}`, nil}, false},
		"an error of another form":    {reply{404, js, `{"detail":"sandbox not found"}`, nil}, false},
		"a cluster that is not there": {said("cluster with id 7 not found"), false},
		"a 410 of a page":             {reply{410, "text/html", "<h1>Gone</h1>", nil}, false},
	} {
		l := newLab(t)
		l.says["GET /sandboxes/i1"] = test.answer
		_, err := l.Get(t.Context(), "i1")
		if gone := errors.Is(err, reconcile.ErrNotFound); gone != test.gone || err == nil {
			t.Errorf("%s: Get = %v, gone %t; want %t", name, err, gone, test.gone)
		}
		how, err := l.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "i1"}})
		if gone := how == reconcile.TerminateGone; gone != test.gone || !gone && (how != "" || err == nil) {
			t.Errorf("%s: Terminate = %q, %v; gone %t", name, how, err, test.gone)
		}
	}
}

func errors404(err error) bool   { return errors.Is(err, reconcile.ErrNotFound) }
func isHeld(err error) bool      { return errors.Is(err, reconcile.ErrHeld) }
func isThrottled(err error) bool { return errors.Is(err, reconcile.ErrThrottled) }

// isOther reports an error that is none of those a caller branches on.
func isOther(err error) bool {
	return err != nil && !errors404(err) && !isHeld(err) && !isThrottled(err) && !errors.Is(err, reconcile.ErrUnauthorized)
}
