package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// TestCall: a platform is asked as the config says, and what it refuses is an error that names its host alone.
func TestCall(t *testing.T) {
	const id = "a/b c&d=e"
	what := tasks.Call{Step: reconcile.StepFail, Task: id, Action: "act1", Reason: `no "heartbeat"`}
	for name, test := range map[string]struct {
		how           config.CallConfig
		path, body    string
		header, value string
		status        int
		wrong         string
	}{
		"nothing but an address": {
			config.CallConfig{}, "/tasks/a%2Fb%20c%26d%3De/fail",
			`{"action":"act1","reason":"no \"heartbeat\"","step":"fail","task":"a/b c\u0026d=e"}`,
			"Idempotency-Key", "act1", 200, "",
		},
		"fields, and a token": {
			config.CallConfig{Token: config.NewSecret("s3cret"), Body: map[string]string{"why": "sandkeeper: @reason", "run": "@id"}},
			"/tasks/a%2Fb%20c%26d%3De/fail", `{"run":"a/b c\u0026d=e","why":"sandkeeper: no \"heartbeat\""}`,
			"Authorization", "Bearer s3cret", 202, "",
		},
		"a header of its own": {
			config.CallConfig{Token: config.NewSecret("s3cret"), Header: "Coder-Session-Token"},
			"", "", "Coder-Session-Token", "s3cret", 201, "",
		},
		"a refusal":    {config.CallConfig{}, "", "", "", "", 409, "it answered 409 Conflict"},
		"a redirect":   {config.CallConfig{}, "", "", "", "", 302, "it answered 302 Found"},
		"its own time": {config.CallConfig{Timeout: time.Nanosecond}, "", "", "", "", 200, "no answer within 1ns"},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.WriteHeader(test.status)
			}))
			defer server.Close()
			how := test.how
			how.Method, how.URL = "POST", config.NewSecret(server.URL+"/tasks/{id}/fail")
			if how.Timeout == 0 {
				how.Timeout = time.Minute
			}
			c := callerOf(&config.Config{})
			c.calls[reconcile.StepFail] = how
			err := c.Call(t.Context(), what)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "/tasks/") {
					t.Errorf("Call = %v, want %q and nothing of the path", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if path := got.URL.EscapedPath(); test.path != "" && path != test.path {
				t.Errorf("path = %s, want %s", path, test.path)
			}
			if test.body != "" && string(body) != test.body {
				t.Errorf("body = %s, want %s", body, test.body)
			}
			if value := got.Header.Get(test.header); value != test.value || got.Header.Get(headerSignature) != "" {
				t.Errorf("%s: %q, signature %q; want %q and none", test.header, value, got.Header.Get(headerSignature), test.value)
			}
		})
	}
}

// TestCallsAreSigned: with a key the call has the webhook's signature, and another path than the task's is not asked.
func TestCallsAreSigned(t *testing.T) {
	var signature string
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked++
		signature = r.Header.Get(headerSignature)
	}))
	defer server.Close()
	c := callerOf(&config.Config{})
	c.calls[reconcile.StepFail] = config.CallConfig{Method: "POST", URL: config.NewSecret(server.URL + "/{id}"),
		Secret: config.NewSecret("key"), Timeout: time.Minute}
	if err := c.Call(t.Context(), tasks.Call{Step: reconcile.StepFail, Task: "t", Action: "a"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(signature, "sha256=") || len(signature) != len("sha256=")+64 {
		t.Errorf("signature = %q, want an HMAC-SHA256", signature)
	}
	err := c.Call(t.Context(), tasks.Call{Step: reconcile.StepFail, Task: "..", Action: "a"})
	if err == nil || asked != 1 {
		t.Errorf("Call of the task %q = %v after %d requests, want an error and none more", "..", err, asked)
	}
}
