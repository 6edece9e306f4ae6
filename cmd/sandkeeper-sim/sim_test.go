package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// start runs the program as its command line does, and returns what it says of itself.
func start(t *testing.T, args ...string) greeting {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, args, in, in)
		in.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("%v: exit code %d", args, code)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	var g greeting
	if err == nil {
		err = json.Unmarshal([]byte(line), &g)
	}
	if err != nil {
		t.Fatalf("%v said %q: %v", args, line, err)
	}
	return g
}

// ask makes a call to the controls.
func ask(t *testing.T, method, url, body string, into any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if into != nil {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return answer.StatusCode
}

// TestKinds: for each simulator of the tree there is a verb, and none besides.
func TestKinds(t *testing.T) {
	found, err := filepath.Glob("../../providers/*/*test")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, dir := range found {
		// The adapters' shared tests are no simulator.
		if name := filepath.Base(filepath.Dir(dir)); filepath.Base(dir) == name+"test" && name != "wire" {
			want = append(want, name)
		}
	}
	for _, k := range kinds() {
		got = append(got, k.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("kinds = %v, want %v", got, want)
	}
	guide, err := os.ReadFile("../../docs/simulators.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range got {
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/simulators.md does not name %s", name)
		}
	}
}

// TestAdaptersMeetThem: an adapter of sandkeeper that gets the printed address and key lists what a test has put.
func TestAdaptersMeetThem(t *testing.T) {
	for name, keys := range map[string]map[string]string{
		"agentuity": {"org": "org_1", "region": "usc"}, "daytona": nil, "docker": nil, "e2b": nil, "kubernetes": {"namespace": "default"},
		"vercel": {"team": "team_1", "project": "prj_1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, name, "--sandboxes", "3", "--labels", "project=mine", "--key", "k-1")
			p, err := providers.Open(entry.Entry{Name: name, Kind: name, URL: g.URL, Token: g.Key, Extra: keys, Rate: 1000,
				Hosts: []string{"127.0.0.1"}, Owns: entry.Owns{Labels: map[string]string{"project": "mine"}}}, providers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
				for _, b := range page {
					ids = append(ids, b.ID)
				}
				return nil
			})
			if err != nil || !listing.Complete || len(ids) != 3 {
				t.Errorf("List = %+v, %v with %v, want 3 sandboxes", listing, err, ids)
			}
		})
	}
}

// TestControls: a test puts a sandbox, breaks the listing, reads what was called, and lifts the fault.
func TestControls(t *testing.T) {
	g := start(t, "daytona", "--template", "ready")
	var made sandbox
	if code := ask(t, "POST", g.Control+"/sandboxes", `{"labels": {"task_id": "t-1"}, "age": "10m", "exec": "hung"}`, &made); code != 201 || made.ID == "" {
		t.Fatalf("put: %d, %+v", code, made)
	}
	p, err := providers.Open(entry.Entry{Name: "d", Kind: "daytona", URL: g.URL, Token: g.Key, Rate: 1000}, providers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Get(t.Context(), made.ID)
	if err != nil || got.Labels["task_id"] != "t-1" {
		t.Errorf("Get = %+v, %v", got, err)
	}
	if code := ask(t, "POST", g.Control+"/faults", `{"on": "get", "effect": "answer", "status": 403}`, nil); code != 204 {
		t.Errorf("fault: %d", code)
	}
	if _, err := p.Get(t.Context(), made.ID); err == nil {
		t.Error("the fault does not strike")
	}
	if code := ask(t, "DELETE", g.Control+"/faults", "", nil); code != 204 {
		t.Errorf("lift: %d", code)
	}
	if _, err := p.Terminate(t.Context(), got); err != nil {
		t.Errorf("Terminate: %v", err)
	}
	var calls []call
	ask(t, "GET", g.Control+"/calls", "", &calls)
	if !slices.ContainsFunc(calls, func(c call) bool { return c.Kind == "delete" && c.ID == made.ID }) {
		t.Errorf("calls = %+v, want a delete of %s", calls, made.ID)
	}
	var all []sandbox
	if ask(t, "GET", g.Control+"/sandboxes", "", &all); len(all) > 1 {
		t.Errorf("sandboxes = %+v", all)
	}
	for _, wrong := range []string{`{"efect": "hang"}`, `{"effect": "sulk"}`, `{"delay": "5"}`, `[`} {
		if code := ask(t, "POST", g.Control+"/faults", wrong, nil); code != 400 {
			t.Errorf("the fault %s is answered with %d", wrong, code)
		}
	}
}
