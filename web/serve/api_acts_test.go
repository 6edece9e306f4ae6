package serve

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// program asks the handler as a program whose token acts for ana.
func program(t *testing.T, h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, calledBy(r, caller{name: "ana", by: byActToken, role: roleOperator, token: "k3f9"}))
	return w
}

// TestProgramsAct: each act reaches what records it as it was asked for, in the name of the token's user; what lacks
// something, or has too much, reaches nothing.
func TestProgramsAct(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		want               int
		asked              string // "": nothing
	}{
		"a hold":                    {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why","for":60}`, 202, "hold task:t-1"},
		"a termination":             {"POST", "/api/v1/acts/terminate", `{"target":"sb-1","reason":"why","include_running":true}`, 202, "terminate sb-1"},
		"an emergency":              {"POST", "/api/v1/acts/emergency", `{"reason":"why","count":1,"hash":"h"}`, 202, "emergency "},
		"a mode":                    {"POST", "/api/v1/acts/mode", `{"target":"orphan","mode":"off","reason":"why"}`, 202, "mode orphan"},
		"a mode without one":        {"POST", "/api/v1/acts/mode", `{"target":"orphan","reason":"why"}`, 400, ""},
		"without a reason":          {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"  "}`, 400, ""},
		"without a target":          {"POST", "/api/v1/acts/hold", `{"reason":"why"}`, 400, ""},
		"with what it has not":      {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why","include_running":true}`, 400, ""},
		"with a time that it lacks": {"POST", "/api/v1/acts/terminate", `{"target":"sb-1","reason":"why","for":1}`, 400, ""},
		"for ever and a day":        {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why","for":99999999}`, 400, ""},
		"for less than no time":     {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why","for":-1}`, 400, ""},
		"an act that is none":       {"POST", "/api/v1/acts/explode", `{"reason":"why"}`, 404, ""},
		"a field that is misspelt":  {"POST", "/api/v1/acts/hold", `{"targets":"task:t-1","reason":"why"}`, 400, ""},
		"anyway":                    {"POST", "/api/v1/acts/terminate", `{"target":"sb-1","reason":"why","anyway":true}`, 400, ""},
		"two bodies":                {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why"}{}`, 400, ""},
		"no body":                   {"POST", "/api/v1/acts/hold", ``, 400, ""},
		"a query":                   {"POST", "/api/v1/acts/hold?x=1", `{"target":"task:t-1","reason":"why"}`, 400, ""},
		"a long reason":             {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"` + strings.Repeat("x", 1001) + `"}`, 400, ""},
		"a target with a NUL":       {"POST", "/api/v1/acts/hold", `{"target":"task:\u0000","reason":"why"}`, 400, ""},
		"a reason with a NUL":       {"POST", "/api/v1/acts/hold", `{"target":"task:t-1","reason":"why\u0000"}`, 400, ""},
		"a DELETE of no id":         {"DELETE", "/api/sandbox/%00", ``, 404, ""},
		"a body without end":        {"POST", "/api/v1/acts/hold", `{"target":"` + strings.Repeat("x", 20_000) + `"}`, 413, ""},
		"a nudge":                   {"POST", "/api/v1/nudge", `{"reason":"a row changed"}`, 202, "pass quick"},
		"a nudge without a reason":  {"POST", "/api/v1/nudge", `{}`, 400, ""},
		"an intent":                 {"POST", "/api/v1/intents", `{"task":"t-1","for":600,"reason":"a sandbox is made"}`, 202, "intent task:t-1"},
		"an intent for a sandbox":   {"POST", "/api/v1/intents", `{"sandbox":"sb-1","for":600,"reason":"kept"}`, 202, "intent sandbox:sb-1"},
		"an intent for both":        {"POST", "/api/v1/intents", `{"task":"t","sandbox":"s","for":600,"reason":"x"}`, 400, ""},
		"an intent for nothing":     {"POST", "/api/v1/intents", `{"for":600,"reason":"x"}`, 400, ""},
		"an intent for a day":       {"POST", "/api/v1/intents", `{"task":"t-1","for":86400,"reason":"x"}`, 202, "intent task:t-1"},
		"an intent for longer":      {"POST", "/api/v1/intents", `{"task":"t-1","for":86401,"reason":"x"}`, 400, ""},
		"an intent without end":     {"POST", "/api/v1/intents", `{"task":"t-1","reason":"x"}`, 400, ""},
		"the runbook's DELETE":      {"DELETE", "/api/sandbox/sb-1", ``, 202, "terminate sb-1"},
		"the runbook's clean-up":    {"POST", "/api/sandbox/cleanup", ``, 202, "pass "},
		"the runbook's emergency":   {"POST", "/api/sandbox/cleanup/emergency", `{"count":1,"hash":"h"}`, 202, "emergency "},
	} {
		t.Run(name, func(t *testing.T) {
			o, acts := options(), &asking{}
			o.Ledger, o.Records, o.Acts = fixedOf(web.Reading{Overview: webtest.Healthy()}), recorded{}, acts
			w := program(t, New(o), c.method, c.path, c.body)
			if got := strings.Join(acts.asked, ", "); w.Code != c.want || got != c.asked {
				t.Errorf("%d, asked for %q; want %d and %q: %s", w.Code, got, c.want, c.asked, w.Body)
			}
			if c.asked != "" && (acts.author != "ana (token k3f9)" || acts.act.Reason == "") {
				t.Errorf("recorded for %q, because %q", acts.author, acts.act.Reason)
			}
			if kind := w.Header().Get("Content-Type"); c.want >= 400 && kind != "application/problem+json" {
				t.Errorf("a refusal is %s", kind)
			}
		})
	}
}

// TestNudgesAreOneASecond: a program that nudges all the time makes one request of it.
func TestNudgesAreOneASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, acts := options(), &asking{}
		o.Acts = acts
		h := New(o)
		for range 30 { // 3 seconds of them
			if w := program(t, h, "POST", "/api/v1/nudge", `{"reason":"why"}`); w.Code != http.StatusAccepted {
				t.Fatalf("a nudge = %d: %s", w.Code, w.Body)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if len(acts.asked) != 3 {
			t.Errorf("%d passes are asked for, want 3", len(acts.asked))
		}
	})
}

// TestRefusedActsSayWhy, with the preview that has to be looked at.
func TestRefusedActsSayWhy(t *testing.T) {
	o := options()
	o.Acts = &asking{err: &api.Refusal{Status: 409, Why: "look at it", Preview: &api.Preview{Count: 3, Hash: "h3"}}}
	w := program(t, New(o), "POST", "/api/v1/acts/emergency", `{"reason":"why"}`)
	for _, want := range []string{`"status":409`, `"look at it"`, `"count":3`, `"hash":"h3"`} {
		if w.Code != 409 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d without %s: %s", w.Code, want, w.Body)
		}
	}
	o.Acts = nil
	if w := program(t, New(o), "POST", "/api/v1/nudge", `{"reason":"why"}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without anybody who records it: %d", w.Code)
	}
}

// TestWhoIsShown: a token and a proxy's word count where they should, and nowhere else.
func TestWhoIsShown(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, c := range map[string]struct {
		peer    string
		headers []string
		tls     bool
		want    caller
		barred  bool
		fails   bool
	}{
		"nobody":                                   {peer: "127.0.0.1:1"},
		"a token that reads":                       {peer: "192.0.2.1:1", headers: []string{"Authorization", "Bearer read"}, want: caller{name: "ana", by: byReadToken, role: roleReader, token: "r"}},
		"a token that acts":                        {peer: "127.0.0.1:1", headers: []string{"Authorization", "bearer act"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}},
		"of one who may not act":                   {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer act of ben"}, want: caller{name: "ben", by: byActToken, role: roleReader, token: "b"}},
		"over plain HTTP":                          {peer: "192.0.2.1:1", headers: []string{"Authorization", "Bearer act"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by a proxy on this machine":               {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer act", "X-Forwarded-For", "192.0.2.1"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by one that says so in Forwarded":         {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer act", "Forwarded", "for=192.0.2.1"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by one that says so in Via":               {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer act", "Via", "1.1 gate"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by one that says so in X-Real-Ip":         {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer act", "X-Real-Ip", "192.0.2.1"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"over TLS":                                 {peer: "192.0.2.1:1", tls: true, headers: []string{"Authorization", "Bearer act"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}},
		"by a proxy with TLS":                      {peer: "10.1.2.3:1", headers: []string{"Authorization", "Bearer act", "X-Forwarded-Proto", "https"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}},
		"by a proxy without":                       {peer: "10.1.2.3:1", headers: []string{"Authorization", "Bearer act", "X-Forwarded-Proto", "http"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by a proxy without, to whom TLS was said": {peer: "10.1.2.3:1", headers: []string{"Authorization", "Bearer act", "X-Forwarded-Proto", "https", "X-Forwarded-Proto", "http"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"by who says to be one":                    {peer: "192.0.2.1:1", headers: []string{"Authorization", "Bearer act", "X-Forwarded-Proto", "https"}, want: caller{name: "ana", by: byActToken, role: roleOperator, token: "a"}, barred: true},
		"a token that is none":                     {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer x"}, fails: true},
		"a token that nobody can check":            {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer broken"}, fails: true},
		"an empty one":                             {peer: "127.0.0.1:1", headers: []string{"Authorization", "Bearer"}, fails: true},
		"a proxy's user":                           {peer: "10.1.2.3:1", headers: []string{userHeader, "ana"}, want: caller{name: "ana", by: byProxy, role: roleOperator}},
		"an address as IPv6 has it":                {peer: "[::ffff:10.1.2.3]:1", headers: []string{userHeader, "ben"}, want: caller{name: "ben", by: byProxy, role: roleReader}},
		"somebody else's header":                   {peer: "192.0.2.1:1", headers: []string{userHeader, "ana"}},
		"a name of two lines":                      {peer: "10.1.2.3:1", headers: []string{userHeader, "an\u2028a"}},
		"a name that is very long":                 {peer: "10.1.2.3:1", headers: []string{userHeader, strings.Repeat("a", 201)}},
		"a password beside it":                     {peer: "10.1.2.3:1", headers: []string{userHeader, "ana", "Authorization", "Basic eDp4"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &authGate{operators: []string{"ana"}, tokens: tokens, proxies: proxies}
			target := "http://page.example/"
			if c.tls {
				target = "https://page.example/"
			}
			r := httptest.NewRequest("GET", target, nil)
			r.RemoteAddr = c.peer
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Add(c.headers[i], c.headers[i+1])
			}
			got, err := g.shown(r)
			barred := got.barred != ""
			got.barred = ""
			if (err != nil) != c.fails || got != c.want || barred != c.barred {
				t.Errorf("%+v, barred %t, %v; want %+v, barred %t, fails %t", got, barred, err, c.want, c.barred, c.fails)
			}
		})
	}
	two := httptest.NewRequest("GET", "http://page.example/", nil)
	two.RemoteAddr, two.Header[userHeader] = "10.1.2.3:1", []string{"ben", "ana"}
	if got, err := (&authGate{proxies: proxies}).shown(two); err != nil || got.name != "" {
		t.Errorf("two names are %+v, %v", got, err)
	}
}

// TestRefusedTokensAreTold: counted and logged as refused log-ins are.
func TestRefusedTokensAreTold(t *testing.T) {
	count := &Refusals{}
	h := newGuesses(options().Log, count, &authGate{tokens: tokens, inside: http.NotFoundHandler(), behind: http.NotFoundHandler(), log: options().Log})
	for range 3 {
		if w := ask(h, "GET", "/", "Authorization", "Bearer x"); w.Code != http.StatusUnauthorized {
			t.Errorf("a token that is none = %d", w.Code)
		}
	}
	if w := ask(h, "GET", "/", "Authorization", "Bearer broken"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a token that nobody can check = %d", w.Code)
	}
	if count.LogIns() != 3 {
		t.Errorf("%d refused log-ins are counted, want 3", count.LogIns())
	}
}
