package serve

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// A person is somebody at a browser, whose browser was given a password.
type person struct {
	*testing.T
	*http.Client
	base, user string
	site       string // Sec-Fetch-Site of what he sends
}

// send sends a form, or asks for a page where there is none.
func (p *person) send(path string, form url.Values) (*http.Response, string) {
	p.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	request, err := http.NewRequestWithContext(p.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	request.SetBasicAuth(p.user, "secret")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", p.base)
		request.Header.Set("Sec-Fetch-Site", p.site)
		if p.site != "same-origin" {
			request.Header.Set("Origin", "https://evil.example")
		}
	}
	got, err := p.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer got.Body.Close()
	var text strings.Builder
	if _, err := io.Copy(&text, got.Body); err != nil {
		p.Fatal(err)
	}
	return got, text.String()
}

// want demands a status and words.
func (p *person) want(status int, words, path string, form url.Values) *http.Response {
	p.Helper()
	got, body := p.send(path, form)
	if got.StatusCode != status || !strings.Contains(body, words) {
		p.Errorf("%s, %s %v = %d, want %d with %q: %.1500s", p.user, path, form, got.StatusCode, status, words, body)
	}
	return got
}

// acting is a server with users and TLS, and what was asked for by it.
func acting(t *testing.T) (file string, acts *asking, at func(user string) *person) {
	t.Helper()
	return actingOn(t, webtest.Healthy())
}

func actingOn(t *testing.T, world reconcile.Overview) (file string, acts *asking, at func(user string) *person) {
	t.Helper()
	cert, key := certificate(t)
	file = configFile(t, twoUsers+"tls_server_config: {cert_file: "+cert+", key_file: "+key+"}\nhttp_server_config: {http2: false}\n")
	acts = &asking{}
	o := options()
	o.Ledger, o.Records, o.Acts = fixedOf(web.Reading{Overview: world}), recorded{}, acts
	l, err := Listen(t.Context(), "web.listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := served(t, &Server{Listener: l, Handler: New(o), ConfigFile: file, Operators: []string{"ana"}})
	t.Cleanup(func() { r.end(t) })
	return file, acts, func(user string) *person {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t, cert)
		c.Jar = jar
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		return &person{t, c, "https://" + r.address, user, "same-origin"}
	}
}

// TestActsNeedASession: a password that the browser sends is none; with a session of his own, an operator acts, and what
// ends something asks for his password once more.
func TestActsNeedASession(t *testing.T) {
	file, acts, at := acting(t)
	ana := at("ana")
	hold := url.Values{"target": {"task:t-1"}, "reason": {"why"}, "for": {"4h"}}
	ana.want(200, "logged in with your password", "/act/hold?subject=task:t-1", nil)
	ana.want(403, "does not count here", "/act/hold", hold)
	ana.want(403, "password is wrong", "/session", url.Values{"password": {"wrong"}})
	ana.site = "cross-site"
	ana.want(403, "by this page itself", "/session", url.Values{"password": {"secret"}})
	ana.site = "same-origin"
	in := ana.want(303, "", "/session", url.Values{"password": {"secret"}, "to": {"/act/hold?target=task%3At-1"}})
	set := in.Header.Get("Set-Cookie")
	for _, word := range []string{"__Host-sandkeeper=", "Path=/", "Secure", "HttpOnly", "SameSite=Strict"} {
		if !strings.Contains(set, word) {
			t.Errorf("the cookie is %q, without %s", set, word)
		}
	}
	if to := in.Header.Get("Location"); to != "./act/hold?target=task%3At-1" {
		t.Errorf("the log-in leads to %s", to)
	}
	ana.want(200, `value="task:t-1"`, "/act/hold?target=task:t-1", nil)
	ana.want(200, "recorded", "/act/hold", hold)
	if acts.author != "ana" || acts.act.For != 4*60*60 || strings.Join(acts.asked, ",") != "hold task:t-1" {
		t.Errorf("asked for %v by %q: %+v", acts.asked, acts.author, acts.act)
	}
	ana.site = "cross-site"
	ana.want(403, "by this page itself", "/act/hold", hold)
	ana.site = "same-origin"
	ana.want(400, "reason is required", "/act/hold", url.Values{"target": {"task:t-1"}})
	ana.want(403, "The time is none", "/act/hold", url.Values{"target": {"task:t-1"}, "reason": {"x"}, "for": {"soon"}})

	ends := url.Values{"target": {"sb-1"}, "reason": {"why"}, "count": {"1"}, "hash": {"h"}}
	ana.want(200, "daytona/sb-1", "/act/terminate?provider=daytona&sandbox=sb-1", nil)
	ana.want(403, "list was not shown", "/act/terminate", url.Values{"target": {"sb-1"}, "reason": {"why"}, "password": {"secret"}})
	ends.Set("password", "secret")
	ana.want(200, "recorded", "/act/terminate", ends)
	if last := acts.asked[len(acts.asked)-1]; last != "terminate sb-1" || acts.act.Hash != "h" || acts.act.Count != 1 {
		t.Errorf("asked for %s: %+v", last, acts.act)
	}
	ends.Set("password", "wrong")
	ana.want(403, "session is over", "/act/terminate", ends)
	ana.want(403, "does not count here", "/act/hold", hold)

	if _, form := ana.send("/act/release?rule=orphan", nil); !strings.Contains(form, `name="for"`) {
		t.Error("the release of a breaker does not ask for how long")
	}
	if _, form := ana.send("/act/release?rule=incident:i-1", nil); strings.Contains(form, `name="for"`) {
		t.Error("the release of an incident asks for how long, though it lasts until that closes")
	}

	ben := at("ben")
	ben.want(200, "Operators only", "/act/hold?target=task:t-1", nil)
	ben.want(200, "disabled", "/act/hold?target=task:t-1", nil)
	ben.want(403, "Operators only", "/session", url.Values{"password": {"secret"}})
	if n := len(acts.asked); n != 2 {
		t.Errorf("%d acts are asked for, want 2: %v", n, acts.asked)
	}

	ana.want(303, "", "/session", url.Values{"password": {"secret"}, "to": {"https://evil.example/act/"}})
	out := ana.want(303, "", "/session/end", url.Values{})
	if !strings.Contains(out.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logging out sets %q", out.Header.Get("Set-Cookie"))
	}
	ana.want(303, "", "/session", url.Values{"password": {"secret"}})
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fewer := strings.Replace(string(whole), "ana:", "eva:", 1)
	if err := os.WriteFile(file, []byte(fewer), 0o600); err != nil {
		t.Fatal(err)
	}
	ana.want(401, "", "/act/hold", hold)
}

// TestWhoMayNotActSeesIt: on every page that has acts their buttons are off for a reader and where no users are set, with
// the reason beside them, and nothing leads to a form; an operator's are on. Each is told as whom he is here.
func TestWhoMayNotActSeesIt(t *testing.T) {
	world := webtest.With(webtest.With(webtest.Incident(), webtest.Suspend), func(o *reconcile.Overview) {
		held, broken := webtest.Worlds()["held"].Overview, webtest.Worlds()["breaker"].Overview
		o.Controls, o.Findings = held.Controls, append(o.Findings, broken.Findings...)
		o.Controls.Breakers = broken.Controls.Breakers
	})
	_, _, at := actingOn(t, world)
	open := serve(t, shown(web.Reading{Overview: world}), "")
	defer open.end(t)
	for _, path := range []string{"/", "/?part=live", "/stops", "/passes", "/sandboxes", "/tasks/7", "/sandboxes/daytona/sb-7", "/rules/orphan",
		"/incidents/" + world.Incidents[0].ID, "/findings?state=held&rule=orphan"} {
		_, reader := at("ben").send(path, nil)
		_, operator := at("ana").send(path, nil)
		nobody := open.get(t, path)
		for who, c := range map[string]struct{ page, why, who string }{
			"ben":    {reader, "operators only", "You are signed in as ben, a reader."},
			"nobody": {nobody, "nobody may: no users are set", "add users to web.config_file"},
		} {
			off, why := strings.Count(c.page, `<button type="button" disabled>`), strings.Count(c.page, c.why+"</span>")
			if off == 0 || why == 0 || why > off || strings.Contains(c.page, `class="button"`) || strings.Contains(c.page, "act/") {
				t.Errorf("%s, %s: %d buttons are off, the reason stands there %d times: %.1500s", path, who, off, why, c.page)
			}
			if whole := !strings.Contains(path, "part=live"); whole && !strings.Contains(c.page, c.who) {
				t.Errorf("%s does not tell %s who he is: %.3000s", path, who, c.page)
			}
			on, not := strings.Count(operator, `<a class="button"`), strings.Count(operator, "once it is released</span>")
			if on == 0 || on+not != off || strings.Count(operator, " disabled") != not {
				t.Errorf("%s: an operator has %d buttons and %d that wait, %s sees %d", path, on, not, who, off)
			}
		}
	}
}

// TestSessionsEnd by their time, by a new password, and with the user.
func TestSessionsEnd(t *testing.T) {
	users := map[string]string{"ana": "h1"}
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		uses []time.Duration
		then map[string]string
		want string
	}{
		"at once":                  {nil, users, "ana"},
		"before it is idle":        {[]time.Duration{sessionIdle - 1}, users, "ana"},
		"idle":                     {[]time.Duration{sessionIdle}, users, ""},
		"used all the time":        {[]time.Duration{50 * time.Minute, 100 * time.Minute, 150 * time.Minute}, users, "ana"},
		"with another password":    {nil, map[string]string{"ana": "h2"}, ""},
		"of one who is taken away": {nil, nil, ""},
	} {
		s := newSessions()
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "https://page.example/", nil)
		r.AddCookie(s.begin("ana", "h1", at))
		got := ""
		for _, use := range append(c.uses, 0)[:max(len(c.uses), 1)] {
			got = s.user(r, c.then, at.Add(use))
		}
		if got != c.want {
			t.Errorf("%s: the session is of %q, want %q", name, got, c.want)
		}
	}
	s := newSessions()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", "https://page.example/", nil)
	r.AddCookie(s.begin("ana", "h1", at))
	for use := 30 * time.Minute; use < sessionLasts; use += 30 * time.Minute {
		if s.user(r, users, at.Add(use)) != "ana" {
			t.Fatalf("it ended after %s", use)
		}
	}
	if got := s.user(r, users, at.Add(sessionLasts)); got != "" {
		t.Errorf("it lasts for ever, of %s", got)
	}
	for range mostSessions + 1 {
		s.begin("ana", "h1", at)
	}
	if len(s.all) > mostSessions {
		t.Errorf("%d sessions are kept", len(s.all))
	}
}

// TestNobodyIsSentElsewhere by who logs in.
func TestNobodyIsSentElsewhere(t *testing.T) {
	for to, want := range map[string]string{
		"/act/hold?target=x": "/act/hold?target=x", "": "/", "//evil.example/act/": "/", "https://evil.example/act/": "/", `/act/\evil`: "/",
		"/act/\r\nSet-Cookie: x": "/", "/": "/", "/act/\u2028": "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
