package config

import (
	"strings"
	"testing"
	"time"
)

// TestCalls: what may stand for a call of the platform's API, and what is said of the rest; never a credential.
func TestCalls(t *testing.T) {
	getenv := env(map[string]string{"DATABASE_URL": "postgres://db.example/x", "TOKEN": "t", "KEY": webhookKey})
	with := func(call string) string {
		return strings.Replace(sound, "tasks: {preset: omoios}", "tasks: {preset: omoios, fail: {call: "+call+"}}", 1)
	}
	c, err := Parse("c.yaml", []byte(with(`{url: "https://p.example/tasks/{id}/cancel", token: "${KEY}"}`)), getenv)
	if err != nil {
		t.Fatal(err)
	}
	if call := c.Tasks.Fail.Call; call.Method != "POST" || call.Timeout != 10*time.Second || len(c.Warnings) != 0 {
		t.Errorf("call = %+v, warnings %v; want POST, 10s and no warnings", call, c.Warnings)
	}
	if m := c.Mapping().WithPreset(); !m.Fail.Call || m.Fail.Status != "" || !c.Policy().Tasks.FailsRows {
		t.Errorf("fail = %+v, want the call and nothing of the preset, and rules that fail tasks", m.Fail)
	}
	for call, want := range map[string]string{
		`{token: "${KEY}"}`:                                              "tasks.fail.call.url: is not given",
		`{url: "p.example/{id}", token: "${KEY}"}`:                       "tasks.fail.call.url: is not an address",
		`{url: "https://a:b@p.example/{id}", token: "${KEY}"}`:           "tasks.fail.call.url: holds a credential",
		`{url: "https://{id}.example/", token: "${KEY}"}`:                "tasks.fail.call.url: is not an address",
		`{url: "https://p.example/", token: "${KEY}", body: {a: b}}`:     "neither url nor body names the task",
		`{url: "https://p.example/{id}", token: "${KEY}", method: GET}`:  "tasks.fail.call.method",
		`{url: "https://p.example/{id}", token: "${KEY}", timeout: 16s}`: "above the cap of 15s",
	} {
		_, err := Parse("c.yaml", []byte(with(call)), getenv)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), webhookKey) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
	}
	for call, want := range map[string]string{
		`{url: "http://p.example/{id}", token: "${KEY}"}`: "unencrypted",
		`{url: "https://p.example/{id}"}`:                 "nothing shows the platform",
	} {
		c, err := Parse("c.yaml", []byte(with(call)), getenv)
		if err != nil || !strings.Contains(c.Warnings.Error(), want) {
			t.Errorf("%s: %v, warnings %v; want %q", call, err, c.Warnings, want)
		}
	}
}
