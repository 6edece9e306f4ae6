package verceltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a server and a client that knows nothing of our adapter.
type lab struct {
	t     *testing.T
	world *simulated.World
	clock *simulated.Clock
	url   string
}

func start(t *testing.T, o verceltest.Options) *lab {
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now, DeleteAfter: 2 * time.Second, IDs: verceltest.ID})
	server := httptest.NewServer(verceltest.New(w, o))
	t.Cleanup(server.Close)
	return &lab{t: t, world: w, clock: clock, url: server.URL}
}

type fields = map[string]any

// call makes a call of the team, and returns the status, the body's fields, and the text.
func (l *lab) call(method, path, body string, header ...string) (int, fields, string) {
	l.t.Helper()
	path, query, _ := strings.Cut(path, "?")
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path+"?teamId=team_1&"+query,
		strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	var out fields
	_ = json.Unmarshal(text, &out) // some answers are no objects
	return res.StatusCode, out, string(text)
}

// says is the field at a path of names.
func says(in any, path ...string) any {
	for _, name := range path {
		object, _ := in.(fields)
		in = object[name]
	}
	return in
}

// create makes a sandbox and returns its session's id.
func (l *lab) create(name, more string) string {
	l.t.Helper()
	status, out, text := l.call("POST", "/v3/sandboxes", fmt.Sprintf(`{"projectId":"prj_1","ports":[],"name":%q%s}`, name,
		more))
	if status != 200 || says(out, "sandbox", "name") != name {
		l.t.Fatalf("create = %d %s", status, text)
	}
	return says(out, "session", "id").(string)
}

// One sandbox from its creation to a new session, and away.
func TestLife(t *testing.T) {
	l := start(t, verceltest.Options{})
	id := l.create("w1", `,"tags":{"task":"t1"},"timeout":600000`)
	if !regexp.MustCompile(`^sbx_[0-9A-Za-z]{28}$`).MatchString(id) {
		t.Errorf("id = %s, want sbx_ and 28 letters and digits", id)
	}
	if status, out, _ := l.call("POST", "/v2/sandboxes", `{"projectId":"prj_1","name":"w1"}`); status != 400 ||
		says(out, "error", "code") != "bad_request" {
		t.Errorf("the same name again = %d %v, want 400", status, out)
	}
	session := "/v2/sandboxes/sessions/" + id
	_, out, _ := l.call("GET", "/v2/sandboxes/w1?projectId=prj_1", "")
	now := float64(l.clock.Now().UnixMilli())
	if says(out, "sandbox", "status") != "running" || says(out, "sandbox", "currentSessionId") != id ||
		says(out, "sandbox", "expiresAt") != now+600_000 || says(out, "sandbox", "tags", "task") != "t1" {
		t.Errorf("get = %v, want it running for ten minutes", out)
	}
	if _, out, _ := l.call("GET", session, ""); says(out, "session", "sourceSandboxName") != "w1" ||
		says(out, "session", "startedAt") != now || says(out, "session", "tags") != nil {
		t.Errorf("get session = %v, want its name and no tags", out)
	}
	if status, out, _ := l.call("POST", session+"/stop", ""); status != 200 || says(out, "session", "status") != "stopping" {
		t.Errorf("stop = %d %v, want it stopping", status, out)
	}
	if status, out, _ := l.call("POST", session+"/cmd", `{"command":"true"}`); status != 422 ||
		says(out, "error", "code") != "sandbox_stopping" {
		t.Errorf("a command while it stops = %d %v, want 422", status, out)
	}
	l.clock.Advance(2 * time.Second)
	for _, path := range []string{"/cmd", "/fs/read", "/extend-timeout", "/snapshot"} {
		if status, out, _ := l.call("POST", session+path, `{"command":"true"}`); status != 410 ||
			says(out, "error", "code") != "sandbox_stopped" {
			t.Errorf("%s of one that is over = %d %v, want 410", path, status, out)
		}
	}
	if status, out, _ := l.call("POST", session+"/stop", ""); status != 200 || says(out, "session", "status") != "stopped" {
		t.Errorf("a second stop = %d %v, want 200", status, out)
	}
	for _, get := range []struct {
		query string
		woken bool
	}{{"", false}, {"&resume=false", false}, {"&resume=true", true}} {
		_, out, _ := l.call("GET", "/v2/sandboxes/w1?projectId=prj_1"+get.query, "")
		if woken := says(out, "sandbox", "currentSessionId") != id; woken != get.woken || says(out, "resumed") != get.woken {
			t.Errorf("get%s = %v, want it resumed %t", get.query, out, get.woken)
		}
	}
	_, out, _ = l.call("GET", "/v2/sandboxes/sessions?project=prj_1&name=w1", "")
	if list := says(out, "sessions").([]any); len(list) != 2 || says(list[1], "status") != "stopped" {
		t.Errorf("sessions = %v, want two, newest first", list)
	}
	if status, out, _ := l.call("DELETE", "/v2/sandboxes/w1?projectId=prj_1", ""); status != 200 ||
		says(out, "sandbox", "status") != "stopped" {
		t.Errorf("delete = %d %v", status, out)
	}
	for _, path := range []string{"/v2/sandboxes/w1", session} {
		if status, out, _ := l.call("GET", path, ""); status != 404 || says(out, "error", "code") != "not_found" {
			t.Errorf("%s after the delete = %d %v, want 404", path, status, out)
		}
	}
}

func TestListFilters(t *testing.T) {
	l := start(t, verceltest.Options{})
	for i := range 5 {
		state := reconcile.SandboxRunning
		if i == 4 {
			state = reconcile.SandboxStopped
		}
		l.world.Put(simulated.Sandbox{Name: fmt.Sprintf("task-%d", i), State: state,
			CreatedAt: l.clock.Now().Add(-time.Duration(i) * time.Minute), Labels: map[string]string{"odd": fmt.Sprint(i % 2)}})
	}
	l.world.Put(simulated.Sandbox{Name: "other", CreatedAt: l.clock.Now().Add(time.Second)})
	names := func(query string) (out []string, pages int) {
		for cursor := ""; ; {
			_, in, text := l.call("GET", "/v2/sandboxes?project=prj_1&"+query+"&cursor="+url.QueryEscape(cursor), "")
			list, ok := says(in, "sandboxes").([]any)
			if !ok {
				t.Fatalf("list?%s = %s", query, text)
			}
			for _, item := range list {
				out = append(out, strings.TrimPrefix(says(item, "name").(string), "task-"))
			}
			pages++
			next, more := says(in, "pagination", "next").(string)
			if !more {
				return out, pages
			}
			cursor = next
		}
	}
	for query, want := range map[string]string{
		"sortBy=createdAt&sortOrder=asc":                "4 3 2 1 0 other",
		"sortBy=createdAt&sortOrder=asc&limit=2":        "4 3 2 1 0 other",
		"limit=4":                                       "other 0 1 2 3 4",
		"sortBy=name&sortOrder=asc":                     "other 0 1 2 3 4",
		"sortBy=name&namePrefix=task-&sortOrder=asc":    "0 1 2 3 4",
		"sortBy=statusUpdatedAt&sortOrder=desc&limit=1": "other 0 1 2 3 4",
		"status=running&sortOrder=asc":                  "3 2 1 0 other",
		"status=stopped":                                "4",
		"status=stopping":                               "",
		"tags=odd:1":                                    "1 3",
		"tags=odd:7":                                    "",
	} {
		if got, _ := names(query); strings.Join(got, " ") != want {
			t.Errorf("list?%s = %v, want %s", query, got, want)
		}
	}
	if _, pages := names("limit=2"); pages != 3 {
		t.Errorf("%d pages of two, want 3", pages)
	}
	for _, query := range []string{"limit=0", "limit=51", "limit=x", "sortBy=age", "namePrefix=a", "status=pending",
		"status=running&sortBy=name", "status=running&tags=a:b", "tags=a:b&tags=c:d"} {
		if status, out, _ := l.call("GET", "/v2/sandboxes?project=prj_1&"+query, ""); status != 400 ||
			says(out, "error", "code") != "bad_request" {
			t.Errorf("list?%s = %d %v, want 400", query, status, out)
		}
	}
	if status, _, _ := l.call("GET", "/v2/sandboxes", ""); status != 400 {
		t.Errorf("list without a project = %d, want 400", status)
	}
}

// A page that follows goes on where the one before ended, whatever happens meanwhile.
func TestPagesWhileThingsGo(t *testing.T) {
	l := start(t, verceltest.Options{})
	var ids []string
	for i := range 6 {
		ids = append(ids, l.world.Put(simulated.Sandbox{Name: fmt.Sprint(i),
			CreatedAt: l.clock.Now().Add(time.Duration(i) * time.Second)}).ID)
	}
	const query = "/v2/sandboxes?project=prj_1&sortBy=createdAt&sortOrder=asc&status=running&limit=2"
	_, first, _ := l.call("GET", query, "")
	l.world.Change(ids[0], func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	_, second, _ := l.call("GET", query+"&cursor="+says(first, "pagination", "next").(string), "")
	if list := says(second, "sandboxes").([]any); says(list[0], "name") != "2" {
		t.Errorf("the second page begins with %v, want 2", says(list[0], "name"))
	}
}

func TestErrors(t *testing.T) {
	l := start(t, verceltest.Options{})
	id := l.world.Put(simulated.Sandbox{Refuse: "protected"}).ID
	busy := l.world.Put(simulated.Sandbox{Locked: true}).ID
	for name, test := range map[string]struct {
		method, path, key string
		want              string
	}{
		"a wrong key":      {"GET", "/v2/sandboxes?project=prj_1", "wrong", "403 forbidden"},
		"another project":  {"GET", "/v2/sandboxes?project=prj_2", "key", "404 not_found"},
		"no route":         {"GET", "/v9/sandboxes", "key", "404 not_found"},
		"no record":        {"GET", "/v2/sandboxes/none", "key", "404 not_found"},
		"no session":       {"POST", "/v2/sandboxes/sessions/sbx_0/stop", "key", "404 not_found"},
		"a refused stop":   {"POST", "/v2/sandboxes/sessions/" + id + "/stop", "key", "400 bad_request"},
		"a busy one":       {"POST", "/v2/sandboxes/sessions/" + busy + "/stop", "key", "422 sandbox_snapshotting"},
		"the other prefix": {"GET", "/api/v2/sandboxes/none", "key", "404 not_found"},
	} {
		status, out, _ := l.call(test.method, test.path, "", "Authorization", "Bearer "+test.key)
		if got := fmt.Sprint(status, " ", says(out, "error", "code")); got != test.want ||
			says(out, "error", "message") == "" {
			t.Errorf("%s = %s, want %s", name, got, test.want)
		}
	}
	for trouble, want := range map[simulated.Trouble]int{simulated.Dead: 502, simulated.Lost: 500, simulated.NoFork: 500,
		simulated.Unknown: 404, simulated.Healthy: 200} {
		b := l.world.Put(simulated.Sandbox{Exec: trouble})
		if status, _, text := l.call("POST", "/v2/sandboxes/sessions/"+b.ID+"/cmd", `{"command":"true"}`); status != want {
			t.Errorf("a command with %q = %d %s, want %d", trouble, status, text, want)
		}
	}
}

// Calls are journaled as what they are.
func TestJournal(t *testing.T) {
	l := start(t, verceltest.Options{TaskLabel: "task"})
	id := l.create("w1", `,"tags":{"task":"t1"}`)
	l.world.ResetCalls()
	session := "/v2/sandboxes/sessions/" + id
	l.call("GET", "/v2/sandboxes?project=prj_1&status=running", "")
	l.call("GET", "/v2/sandboxes?project=prj_1&tags=task:t1", "")
	l.call("GET", "/v2/sandboxes/w1?resume=false", "")
	l.call("GET", "/v2/sandboxes/w1?resume=true", "")
	l.call("POST", session+"/cmd", `{"command":"true"}`)
	l.call("POST", session+"/cmd", `{"command":"ls"}`)
	l.call("PATCH", "/v2/sandboxes/w1", `{"tags":{"task":"t2"}}`)
	l.call("POST", session+"/extend-timeout", `{"duration":60000}`)
	l.call("POST", session+"/stop", "")
	var got []simulated.Kind
	for _, c := range l.world.Calls() {
		got = append(got, c.Kind)
	}
	want := []simulated.Kind{simulated.List, simulated.Find, simulated.Get, simulated.Start, simulated.Exec,
		simulated.Files, simulated.Label, simulated.Label, simulated.Delete}
	if !slices.Equal(got, want) {
		t.Errorf("journal = %v, want %v", got, want)
	}
	if now, _ := l.world.Sandbox(id); now.Labels["task"] != "t2" {
		t.Errorf("tags = %v, want them replaced", now.Labels)
	}
}
