package generic_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/generic"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const page = "../../docs/generic.md"

// fly is the page's description of Fly Machines.
func fly(t *testing.T) *entry.API {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\napi:\n")
	block, _, ok := strings.Cut(rest, "```")
	var in struct{ API entry.API }
	if err := yaml.UnmarshalWithOptions([]byte("api:\n"+block), &in, yaml.Strict()); err != nil || !ok {
		t.Fatalf("the page's description = %v, found %t", err, ok)
	}
	return &in.API
}

func TestWorkedExamplesHaveNoMistakes(t *testing.T) {
	for name, api := range map[string]*entry.API{"the boxyard": yard(t), "Fly Machines": fly(t)} {
		if got := generic.Check(entry.Entry{Kind: "generic", URL: "https://x.example", Token: "t", API: api}); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The page tells of every key.
func TestPageTellsOfEveryKey(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	api := reflect.TypeFor[entry.API]()
	for i := range api.NumField() {
		key := api.Field(i).Tag.Get("yaml")
		if !regexp.MustCompile(`\b` + key + `\b`).Match(text) {
			t.Errorf("%s does not tell of %s", page, key)
		}
		if section := api.Field(i).Type; section.Kind() == reflect.Struct {
			for j := range section.NumField() {
				if key := section.Field(j).Tag.Get("yaml"); !regexp.MustCompile(`\b` + key + `\b`).Match(text) {
					t.Errorf("%s does not tell of %s.%s", page, api.Field(i).Tag.Get("yaml"), key)
				}
			}
		}
	}
}

// machine is a machine as the vendor documents it.
const machine = `{"id":"d8d9e33c0d5508","instance_id":"01HZ","name":"w-1","region":"fra","state":%STATE%,
 "host_status":%HOST%,"created_at":"2026-11-01T10:00:00Z","updated_at":"2026-11-01T11:00:00.5Z",
 "config":{"image":"registry.fly.io/w:1","metadata":{"project":"mine","task_id":"t1"},"auto_destroy":%AUTO%}}`

func TestFlyMachines(t *testing.T) {
	body, status := "", 200
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	p, err := generic.New(entry.Entry{Name: "fly", URL: server.URL + "/v1/apps/my-app", Token: "FlyV1-x", API: fly(t),
		Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}, Link: entry.Link{TaskLabel: "task_id"}},
		entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		state, host, auto string
		want              reconcile.SandboxState
	}{
		"it runs":                           {`"started"`, `"ok"`, `false`, reconcile.SandboxRunning},
		"it does not say how its host is":   {`"started"`, `null`, `false`, reconcile.SandboxRunning},
		"its host cannot be reached":        {`"started"`, `"unreachable"`, `false`, reconcile.SandboxUnknown},
		"it was destroyed and is on record": {`"destroyed"`, `"ok"`, `false`, reconcile.SandboxEnded},
		"a word of next year":               {`"hibernating"`, `"ok"`, `false`, reconcile.SandboxUnknown},
	} {
		body = strings.NewReplacer("%STATE%", test.state, "%HOST%", test.host, "%AUTO%", test.auto).Replace(machine)
		got, err := p.Get(t.Context(), "d8d9e33c0d5508")
		if err != nil || got.State != test.want || !got.Owned || got.Task != "t1" || got.Template != "registry.fly.io/w:1" ||
			got.CreatedAt.IsZero() {
			t.Errorf("%s: Get = %+v, %v; want %q", name, got, err, test.want)
		}
	}
	body = strings.NewReplacer(`"config"`, `"config":null,"incomplete_config"`, "%STATE%", `"started"`, "%HOST%", `"unreachable"`,
		"%AUTO%", "false").Replace(machine)
	if got, err := p.Get(t.Context(), "d8d9e33c0d5508"); err != nil || !got.Owned || got.State != reconcile.SandboxUnknown {
		t.Errorf("Get of one whose host cannot be reached = %+v, %v; want it still ours", got, err)
	}
	body = strings.NewReplacer("%STATE%", `"started"`, "%HOST%", `"ok"`, "%AUTO%", "true").Replace(machine)
	if how, err := p.Suspend(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: "d8d9e33c0d5508"}, Owned: true, Task: "t1"}); how !=
		reconcile.TerminateRefused || err == nil {
		t.Errorf("Suspend of one that a stop destroys = %s, %v; want refused", how, err)
	}
	for words, gone := range map[string]bool{"machine not found": true, "app not found": false} {
		body, status = `{"error":"`+words+`"}`, 404
		if _, err := p.Get(t.Context(), "d8d9e33c0d5508"); err == nil || isGone(err) != gone {
			t.Errorf("Get with %q = %v, want gone %t", words, err, gone)
		}
	}
	if asked[0] != "GET /v1/apps/my-app/machines/d8d9e33c0d5508 Bearer FlyV1-x" {
		t.Errorf("asked %s", asked[0])
	}
}

func isGone(err error) bool { return errors.Is(err, reconcile.ErrNotFound) }
