package daytonatest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a server and a client that knows nothing of our adapter.
type lab struct {
	t     *testing.T
	world *simulated.World
	clock *simulated.Clock
	url   string
}

func start(t *testing.T) *lab {
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now, StartAfter: time.Second, DeleteAfter: 10 * time.Second})
	server := httptest.NewServer(daytonatest.New(w, daytonatest.Options{}))
	t.Cleanup(server.Close)
	return &lab{t: t, world: w, clock: clock, url: server.URL}
}

type fields = map[string]any

func (l *lab) call(method, path, body string, header ...string) (int, fields, *http.Response) {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, strings.NewReader(body))
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
	return res.StatusCode, out, res
}

func TestCreateToGone(t *testing.T) {
	l := start(t)
	status, made, res := l.call("POST", "/api/sandbox", `{"name":"w1","labels":{"task":"t1"},"ttlMinutes":60}`)
	if status != 200 || made["state"] != "creating" || made["toolboxProxyUrl"] != l.url+"/toolbox" ||
		made["organizationId"] == nil {
		t.Fatalf("create = %d %v", status, made)
	}
	if date := res.Header.Get("Date"); date != "Sun, 01 Nov 2026 12:00:00 GMT" {
		t.Errorf("Date = %s, want the world's clock", date)
	}
	id := made["id"].(string)
	if status, out, _ := l.call("DELETE", "/api/sandbox/"+id, ""); status != 409 ||
		out["message"] != "Sandbox state change in progress" {
		t.Errorf("delete while it comes up = %d %v, want 409", status, out)
	}
	l.clock.Advance(time.Second)
	if _, out, _ := l.call("GET", "/api/sandbox/w1", ""); out["state"] != "started" || out["id"] != id ||
		out["autoDestroyAt"] == nil {
		t.Errorf("get by name = %v, want it started", out)
	}
	if status, out, _ := l.call("DELETE", "/api/sandbox/"+id, ""); status != 200 || out["state"] != "destroying" ||
		out["desiredState"] != "destroyed" {
		t.Errorf("delete = %d %v, want destroying", status, out)
	}
	_, out, _ := l.call("GET", "/api/sandbox", "")
	item := out["items"].([]any)[0].(fields)
	if item["state"] != "started" || item["desiredState"] != "destroyed" ||
		!strings.HasPrefix(item["name"].(string), "DESTROYED_w1_") {
		t.Errorf("listed = %v, want its raw state and its new name", item)
	}
	l.clock.Advance(10 * time.Second)
	if status, out, _ := l.call("GET", "/api/sandbox/"+id, ""); status != 404 || out["statusCode"] != 404.0 {
		t.Errorf("get at last = %d %v, want 404", status, out)
	}
}

func TestListPagesAndFilters(t *testing.T) {
	l := start(t)
	for i := range 5 {
		l.world.Put(simulated.Sandbox{Labels: map[string]string{"odd": string('0' + rune(i%2))}})
	}
	l.world.Put(simulated.Sandbox{State: reconcile.SandboxFailed, Doomed: true, Labels: map[string]string{"odd": "0"}})
	count := func(query string) (n, pages int) {
		cursor := ""
		for pages = 1; ; pages++ {
			_, out, _ := l.call("GET", "/api/sandbox?"+query+"&cursor="+url.QueryEscape(cursor), "")
			n += len(out["items"].([]any))
			next, more := out["nextCursor"].(string)
			if !more {
				return n, pages
			}
			cursor = next
		}
	}
	for query, want := range map[string][2]int{
		"limit=2": {5, 3}, "limit=200": {5, 1}, "limit=5": {5, 1}, "includeErroredDeleted=true": {6, 1},
		"labels=" + url.QueryEscape(`{"odd":"0"}`): {3, 1}, "labels=" + url.QueryEscape(`{"odd":"0","x":"y"}`): {0, 1},
	} {
		if n, pages := count(query); n != want[0] || pages != want[1] {
			t.Errorf("list?%s = %d in %d pages, want %v", query, n, pages, want)
		}
	}
	for _, query := range []string{"limit=201", "limit=0", "labels=x"} {
		if status, _, _ := l.call("GET", "/api/sandbox?"+query, ""); status != 400 {
			t.Errorf("list?%s = %d, want 400", query, status)
		}
	}
}

func TestErrors(t *testing.T) {
	l := start(t)
	if status, out, _ := l.call("GET", "/api/sandbox", "", "Authorization", "Bearer wrong"); status != 401 ||
		out["message"] == "" {
		t.Errorf("a wrong key = %d %v, want 401", status, out)
	}
	if status, out, _ := l.call("GET", "/api/nonsense", ""); status != 404 ||
		out["message"] != "Cannot GET /api/nonsense" {
		t.Errorf("no route = %d %v", status, out)
	}
	if status, _, res := l.call("GET", "/elsewhere", ""); status != 200 ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Errorf("elsewhere = %d %s, want the dashboard", status, res.Header.Get("Content-Type"))
	}
}

// Calls into a sandbox are activity, unless they say that they are not.
func TestActivity(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{})
	moved := func() bool {
		got, _ := l.world.Sandbox(s.ID)
		return got.LastActivityAt.Equal(l.clock.Now())
	}
	for _, call := range [][3]string{
		{"POST", "/process/execute", `{"command":"true"}`}, {"GET", "/files?path=/", ""}, {"GET", "/system/metrics", ""},
		{"GET", "/process/session/entrypoint/logs", ""},
	} {
		l.clock.Advance(time.Second)
		if status, _, _ := l.call(call[0], "/toolbox/"+s.ID+call[1], call[2], "X-Daytona-Skip-Last-Activity-Update",
			"true"); status != 200 || moved() {
			t.Errorf("%s = %d, moved %t; want a silent call", call[1], status, moved())
		}
		if status, _, _ := l.call(call[0], "/toolbox/"+s.ID+call[1], call[2]); status != 200 || !moved() {
			t.Errorf("%s = %d, moved %t; want an activity", call[1], status, moved())
		}
	}
}

func TestToolboxTroubles(t *testing.T) {
	l := start(t)
	for trouble, want := range map[simulated.Trouble]int{
		simulated.Dead: 502, simulated.Lost: 404, simulated.TimedOut: 408, simulated.NoFork: 200, simulated.Healthy: 200,
	} {
		s := l.world.Put(simulated.Sandbox{Exec: trouble})
		status, out, _ := l.call("POST", "/toolbox/"+s.ID+"/process/execute", `{"command":"true","timeout":1}`)
		if status != want ||
			trouble == simulated.NoFork && out["exitCode"] != -1.0 {
			t.Errorf("exec with %q = %d %v, want %d", trouble, status, out, want)
		}
	}
	stopped := l.world.Put(simulated.Sandbox{State: reconcile.SandboxStopped})
	for id, want := range map[string]int{stopped.ID: 400, "none": 401} {
		if status, _, _ := l.call("GET", "/toolbox/"+id+"/files?path=/", ""); status != want {
			t.Errorf("files of %s = %d, want %d", id, status, want)
		}
	}
}

func TestLifecycle(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{})
	steps := []struct {
		method, path, body string
		status             int
		state              string
	}{
		{"POST", "/start", "", 400, "started"},
		{"POST", "/stop?force=false", "", 200, "stopped"},
		{"POST", "/stop", "", 400, "stopped"},
		{"PUT", "/labels", `{"labels":{"a":"b"}}`, 200, "stopped"},
		{"PUT", "/labels", `{}`, 400, "stopped"},
		{"POST", "/start", "", 200, "started"},
		{"POST", "/last-activity", `{}`, 201, "started"},
		{"GET", "/toolbox-proxy-url", "", 200, "started"},
	}
	for _, step := range steps {
		status, _, _ := l.call(step.method, "/api/sandbox/"+s.ID+step.path, step.body)
		l.clock.Advance(time.Minute)
		_, now, _ := l.call("GET", "/api/sandbox/"+s.ID, "")
		if status != step.status || now["state"] != step.state {
			t.Errorf("%s %s = %d, then %v; want %d, then %s", step.method, step.path, status, now["state"], step.status,
				step.state)
		}
	}
	if got, _ := l.world.Sandbox(s.ID); len(got.Labels) != 1 || got.Labels["a"] != "b" {
		t.Errorf("labels = %v, want them replaced", got.Labels)
	}
}

func TestSnapshots(t *testing.T) {
	l := start(t)
	made := l.world.PutTemplate(simulated.Template{Name: "base", State: reconcile.TemplateInactive})
	for path, want := range map[string]int{"/base": 200, "/" + made.ID: 200, "/none": 404} {
		if status, _, _ := l.call("GET", "/api/snapshots"+path, ""); status != want {
			t.Errorf("snapshot %s = %d, want %d", path, status, want)
		}
	}
	if _, out, _ := l.call("GET", "/api/snapshots?name=ba", ""); out["total"] != 1.0 {
		t.Errorf("snapshots = %v, want 1", out)
	}
	if status, _, _ := l.call("POST", "/api/snapshots/base/activate", ""); status != 404 {
		t.Errorf("activate by name = %d, want 404: it takes an id", status)
	}
	if status, out, _ := l.call("POST", "/api/snapshots/"+made.ID+"/activate", ""); status != 200 ||
		out["state"] != "pending" {
		t.Errorf("activate = %d %v, want pending", status, out)
	}
	if status, out, _ := l.call("POST", "/api/sandbox", `{"snapshot":"none"}`); status != 400 ||
		!strings.Contains(out["message"].(string), "not found") {
		t.Errorf("create from none = %d %v, want 400", status, out)
	}
}

func TestAccount(t *testing.T) {
	l := start(t)
	if _, out, _ := l.call("GET", "/api/api-keys/current", ""); len(out["permissions"].([]any)) == 0 ||
		out["value"] == "key" {
		t.Errorf("key = %v, want permissions and no secret", out)
	}
	l.world.Put(simulated.Sandbox{})
	_, out, _ := l.call("GET", "/api/organizations/"+daytonatest.Organization+"/usage", "")
	if region := out["regionUsage"].([]any)[0].(fields); region["currentCpuUsage"] != 1.0 {
		t.Errorf("usage = %v, want 1 CPU", region)
	}
	if status, _, _ := l.call("GET", "/api/organizations/other/usage", ""); status != 403 {
		t.Errorf("usage of others = %d, want 403", status)
	}
}
