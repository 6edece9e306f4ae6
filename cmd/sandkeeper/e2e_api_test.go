package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/api"
)

// A programClient asks a server as a program does, or as a page of somebody else's has a browser do.
type programClient struct {
	*testing.T
	http *http.Client
	base string
}

// ask sends one request and returns status and body.
func (p programClient) ask(method, path, body string, headers ...string) (status int, answer string) {
	p.Helper()
	request, err := http.NewRequestWithContext(p.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	got, err := p.http.Do(request)
	if err != nil {
		p.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		p.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// want demands a status, and returns the answer. What only reads asks again after a 503, as [daemonChild.read] does.
func (p programClient) want(status int, method, path, body string, headers ...string) string {
	p.Helper()
	got, answer := p.ask(method, path, body, headers...)
	for until := time.Now().Add(5 * time.Minute); method == http.MethodGet && got == http.StatusServiceUnavailable &&
		status != got && time.Now().Before(until); {
		got, answer = p.ask(method, path, body, headers...)
	}
	if got != status {
		p.Errorf("%s %s %s = %d, want %d: %.600s", method, path, body, got, status, answer)
	}
	return answer
}

// securePage has `serve` show an arena over TLS, with ana as the operator and the operator key, and returns a client.
func (a *arena) securePage() (p programClient, stop func()) {
	a.Helper()
	a.secureWeb()
	a.operatorKey(settings{mode: "observe", more: "web: {listen: \"127.0.0.1:0\", config_file: web.yml, operators: [ana]}\nlog: {level: info}"})
	cert, err := os.ReadFile(filepath.Join(filepath.Dir(a.config), "cert.pem"))
	if err != nil {
		a.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	d := a.daemon("serve")
	return programClient{a.T, &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}},
		strings.TrimSuffix(d.url(), "/")}, d.stop
}

// token makes a token and returns it as the header that shows it.
func (a *arena) token(args ...string) (header, id string) {
	a.Helper()
	out := a.must(append([]string{"token", "create"}, args...)...)
	words := strings.Fields(out)
	return "Bearer " + words[len(words)-1], words[1]
}

// TestAPIOfAServer: what programs read is what the ledger has; an act by a token is recorded, signed, and done by once;
// who may not is refused, and nothing is recorded for him.
func TestAPIOfAServer(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(2)
	a.beat(ws)
	held, orphan, other := a.box(nobody, time.Minute), a.box(nobody, time.Minute), a.box(nobody, time.Minute)
	a.operatorKey(settings{mode: "observe", more: quickly})
	a.once(0)
	p, stop := a.securePage()
	defer stop()
	reads, _ := a.token("ana", "--reason", "reads")
	acts, id := a.token("ana", "--scope", "act", "--reason", "acts", "--for", "1h")
	others, _ := a.token("ben", "--scope", "act", "--reason", "he is no operator")
	const auth = "Authorization"

	var list struct{ Items []api.Sandbox }
	if err := json.Unmarshal([]byte(p.want(200, "GET", "/api/v1/sandboxes?limit=500", "", auth, reads)), &list); err != nil || len(list.Items) != 5 {
		t.Errorf("%d sandboxes, %v; want 5", len(list.Items), err)
	}
	for path, word := range map[string]string{
		"/api/v1/status": `"installation":"test"`, "/api/v1/tasks": ws[0].task, "/api/v1/tasks/" + ws[0].task: ws[0].sandbox,
		"/api/v1/sandboxes/daytona/" + orphan.ID: orphan.ID, "/api/v1/passes/1": `"kind":"full"`, "/api/v1/sources": `"trusted":true`,
		"/api/v1/rules/orphan": `"mode":"observe"`, "/api/v1/requests": "token for ben made", "/api/sandbox/stats": `"active":5`,
		"/api/sandbox/list": `"status":"active"`, "/api/sandbox/" + orphan.ID: `"agent_type":"ai-agent-dev-light"`, "/metrics": "sandkeeper_",
	} {
		if answer := p.want(200, "GET", path, "", auth, reads); !strings.Contains(answer, word) {
			t.Errorf("GET %s has no %s: %.600s", path, word, answer)
		}
	}

	before := a.count("SELECT count(*) FROM sandkeeper.actions") + a.count("SELECT count(*) FROM sandkeeper.holds")
	terminate := `{"target":"` + orphan.ID + `","reason":"ticket 4711"}`
	for name, headers := range map[string][]string{
		"a reader's token": {auth, reads}, "a token of no operator": {auth, others},
		"another page":           {auth, acts, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		"this page with a token": {auth, acts, "Sec-Fetch-Site", "none"},
	} {
		if answer := p.want(403, "POST", "/api/v1/acts/terminate", terminate, headers...); !strings.Contains(answer, `"status":403`) {
			t.Errorf("%s is refused with %s", name, answer)
		}
	}
	p.want(401, "POST", "/api/v1/acts/terminate", terminate, auth, acts+"x")
	p.want(401, "DELETE", "/api/sandbox/"+orphan.ID, "")
	p.want(400, "POST", "/api/v1/acts/terminate", `{"target":"`+orphan.ID+`"}`, auth, acts)
	p.want(409, "POST", "/api/v1/acts/terminate", `{"target":"`+ws[0].task+`","reason":"x"}`, auth, acts)
	p.want(404, "POST", "/api/v1/acts/terminate", `{"target":"nothing","reason":"x"}`, auth, acts)
	p.want(409, "POST", "/api/sandbox/cleanup/emergency", `{"reason":"x"}`, auth, acts)
	if after := a.count("SELECT count(*) FROM sandkeeper.actions") + a.count("SELECT count(*) FROM sandkeeper.holds"); after != before {
		t.Errorf("%d things were recorded for who may not", after-before)
	}

	p.want(202, "POST", "/api/v1/acts/hold", `{"target":"sandbox:`+held.ID+`","reason":"evidence","for":3600}`, auth, acts)
	p.want(202, "POST", "/api/v1/intents", `{"task":"t-new","reason":"a sandbox is about to be made","for":600}`, auth, acts)
	if answer := p.want(409, "DELETE", "/api/sandbox/"+held.ID, "", auth, acts); !strings.Contains(answer, "evidence") {
		t.Errorf("what is held is refused with %s", answer)
	}
	if answer := p.want(202, "POST", "/api/v1/acts/terminate", terminate, auth, acts); !strings.Contains(answer, "ana (token "+id+")") {
		t.Errorf("the recorded action names nobody: %s", answer)
	}
	p.want(202, "DELETE", "/api/sandbox/"+other.ID+"?reason=runbook", "", auth, acts)
	p.want(202, "POST", "/api/v1/nudge", `{"reason":"a row changed"}`, auth, acts)
	a.once(0)
	for box, gone := range map[string]bool{held.ID: false, orphan.ID: true, other.ID: true, ws[0].sandbox: false, ws[1].sandbox: false} {
		if a.ended(box) != gone {
			t.Errorf("sandbox %s is ended: %t, want %t", box, !gone, gone)
		}
	}
	a.keeps(ws)
	var preview api.Preview
	if err := json.Unmarshal([]byte(p.want(200, "GET", "/api/v1/acts/emergency", "", auth, reads)), &preview); err != nil || preview.Count != 0 || len(preview.Left) != 3 {
		t.Errorf("the preview of an emergency is %+v, %v; want nothing to end and 3 left", preview, err)
	}
	a.must("token", "revoke", id, "--reason", "done")
	p.want(401, "GET", "/api/v1/status", "", auth, acts)
	if list := a.must("token", "list"); !strings.Contains(list, "revoked") || strings.Contains(list, strings.TrimPrefix(acts, "Bearer ")) {
		t.Errorf("token list says:\n%s", list)
	}
}

// TestForgedTokensActForNobody: a token that somebody wrote into the ledger who has no operator key is none, also one
// whose scope or user was changed.
func TestForgedTokensActForNobody(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	stranger := a.operatorKey(settings{more: "web: {listen: \"127.0.0.1:0\", operators: [ana]}\nlog: {level: info}"})
	d := a.daemon("serve")
	defer d.stop()
	p := programClient{t, &http.Client{}, strings.TrimSuffix(d.url(), "/")}
	own := a.config
	a.config = stranger
	forged, _ := a.token("ana", "--scope", "act", "--reason", "trust me")
	a.config = own
	changed, id := a.token("ben", "--reason", "reads")
	p.want(200, "GET", "/api/v1/status", "", "Authorization", changed)
	a.sql("UPDATE sandkeeper.tokens SET scope = 'act', token_user = 'ana' WHERE id = $1", id)
	for _, token := range []string{forged, changed} {
		p.want(401, "POST", "/api/v1/acts/pause", `{"reason":"x"}`, "Authorization", token)
	}
	for args, words := range map[string]string{
		"ana --scope all --reason x": "scope", "ana --for 400d --reason x": "longer", "ana": "--reason is required",
	} {
		a.refuses(words, append([]string{"token", "create"}, strings.Fields(args)...)...)
	}
	a.refuses("no token", "token", "revoke", "x", "--reason", "x")
	if n := a.count("SELECT count(*) FROM sandkeeper.pauses"); n != 0 {
		t.Errorf("%d pauses by tokens that are none", n)
	}
}
