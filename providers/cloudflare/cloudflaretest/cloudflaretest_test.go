package cloudflaretest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a server and a client that knows nothing of our adapter.
type lab struct {
	t      *testing.T
	world  *simulated.World
	clock  *simulated.Clock
	server *cloudflaretest.Server
	url    string
}

func start(t *testing.T, o cloudflaretest.Options) *lab {
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now, DeleteAfter: 10 * time.Second})
	s := cloudflaretest.New(w, o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &lab{t, w, clock, s, server.URL}
}

type fields = map[string]any

const (
	apps  = cloudflaretest.ControlPath + "/accounts/" + cloudflaretest.Account + "/containers/applications"
	boxes = apps + "/" + cloudflaretest.Application
	api   = cloudflaretest.WorkerPath
)

func (l *lab) call(method, path, body string, key ...string) (int, fields) {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	token := "key"
	if strings.HasPrefix(path, api) {
		token = "worker-key"
	}
	req.Header.Set("Authorization", "Bearer "+strings.Join(append(key, token)[:1], ""))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	if date := res.Header.Get("Date"); date != l.clock.Now().Format(http.TimeFormat) {
		l.t.Errorf("Date = %s, want the world's clock", date)
	}
	var out fields
	_ = json.Unmarshal(text, &out) // some answers are no objects
	return res.StatusCode, out
}

func TestControlPlane(t *testing.T) {
	l := start(t, cloudflaretest.Options{})
	for i := range 5 {
		l.world.Put(simulated.Sandbox{ID: fmt.Sprintf("task-%d", i), Template: "image:1"})
	}
	var names []string
	token, pages := "", 0
	for ; pages == 0 || token != ""; pages++ {
		_, out := l.call("GET", boxes+"/instances-v2?per_page=2&name_prefix=task-&page_token="+url.QueryEscape(token), "")
		for _, one := range out["result"].([]any) {
			names = append(names, one.(fields)["name"].(string))
		}
		token, _ = out["result_info"].(fields)["next_page_token"].(string)
	}
	if pages != 3 || strings.Join(names, " ") != "task-0 task-1 task-2 task-3 task-4" {
		t.Errorf("instances = %v in %d pages, want 5 in 3", names, pages)
	}
	object := cloudflaretest.Object("task-1")
	_, out := l.call("GET", boxes+"/instances/"+object, "")
	one, _ := out["result"].(fields)
	if len(object) != 64 || one["id"] != object || one["image"] != "image:1" || one["status"].(fields)["state"] != "running" {
		t.Errorf("instance = %v, want a running one by its object's id", out)
	}
	if _, out := l.call("GET", apps, ""); len(out["result"].([]any)) != 1 {
		t.Errorf("applications = %v, want one", out)
	}
	for path, want := range map[string]int{boxes: 200, boxes + "/instances/" + strings.Repeat("0", 64): 404, apps + "/other": 404,
		strings.Replace(boxes, cloudflaretest.Account, "other", 1): 403, cloudflaretest.ControlPath + "/nonsense": 404} {
		status, out := l.call("GET", path, "")
		if status != want || out["success"] != (want == 200) || want != 200 && len(out["errors"].([]any)) != 1 {
			t.Errorf("GET %s = %d %v, want %d in the vendor's envelope", path, status, out, want)
		}
	}
	if status, out := l.call("GET", boxes, "", "wrong"); status != 401 || out["success"] != false {
		t.Errorf("a wrong key = %d %v, want 401", status, out)
	}
	if status, _ := l.call("DELETE", boxes+"/instances/"+object, ""); status != 400 || len(l.world.Sandboxes()) != 5 {
		t.Errorf("the gated delete = %d, want 400 and nothing done", status)
	}
}

func TestWorker(t *testing.T) {
	l := start(t, cloudflaretest.Options{})
	l.world.Put(simulated.Sandbox{ID: "sb-1", Labels: map[string]string{"task_id": "t1", "agent_type": "coder"}, Log: "hello"})
	_, row := l.call("GET", api+"/sb-1", "")
	if row["status"] != "running" || row["task_id"] != "t1" || row["agent_type"] != "coder" || row["container"] != "running" ||
		row["actor_id"] != cloudflaretest.Object("sb-1") {
		t.Errorf("row = %v", row)
	}
	if _, out := l.call("GET", api+"/list?limit=1", ""); len(out["sandboxes"].([]any)) != 1 || out["next_cursor"] != nil {
		t.Errorf("list = %v, want one and no further page", out)
	}
	for _, step := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/nobody", "", 404}, {"GET", "/list?limit=1001", "", 400}, {"GET", "/stats", "", 200}, {"GET", "/audit", "", 200},
		{"POST", "/sb-1/exec", `{"command":["true"]}`, 200}, {"POST", "/sb-1/exec", `{}`, 400}, {"GET", "/sb-1/files?path=/", "", 200},
		{"GET", "/sb-1/files?path=/nowhere", "", 404}, {"GET", "/sb-1/logs", "", 200}, {"GET", "/sb-1/resources", "", 200},
		{"DELETE", "/sb-1", "", 202}, {"DELETE", "/sb-1", "", 409}, {"DELETE", "/nobody", "", 404},
	} {
		if status, out := l.call(step.method, api+step.path, step.body); status != step.status || status >= 400 && out["code"] == nil {
			t.Errorf("%s %s = %d %v, want %d", step.method, step.path, status, out, step.status)
		}
	}
	if _, row := l.call("GET", api+"/sb-1", ""); row["status"] != "terminating" {
		t.Errorf("row after a delete = %v, want it terminating", row)
	}
	l.clock.Advance(10 * time.Second)
	if status, _ := l.call("GET", api+"/sb-1", ""); status != 404 {
		t.Errorf("row at last = %d, want 404", status)
	}
	_, out := l.call("GET", boxes+"/instances/"+cloudflaretest.Object("sb-1"), "")
	if one, _ := out["result"].(fields); one["status"].(fields)["state"] != "stopped" {
		t.Errorf("instance at last = %v, want it on record as stopped", out)
	}
}

// The two halves at odds, and the runbook's own Worker.
func TestAtOdds(t *testing.T) {
	l := start(t, cloudflaretest.Options{Terse: true, Open: true})
	l.world.Put(simulated.Sandbox{ID: "hollow", NoContainer: true})
	l.world.Put(simulated.Sandbox{ID: "lost"})
	l.world.Put(simulated.Sandbox{ID: "asleep", State: reconcile.SandboxSuspended})
	l.server.Forget("lost")
	l.server.Unname("lost")
	_, out := l.call("GET", boxes+"/instances-v2", "")
	var seen []string
	for _, one := range out["result"].([]any) {
		seen = append(seen, fmt.Sprint(one.(fields)["name"], one.(fields)["status"].(fields)["state"]))
	}
	if len(seen) != 2 || seen[0] != "asleepinactive" && seen[1] != "asleepinactive" {
		t.Errorf("instances = %v, want all but the one that no container is behind", seen)
	}
	if status, row := l.call("GET", api+"/hollow", "", "wrong"); status != 200 || row["status"] != "running" || row["container"] != nil {
		t.Errorf("the runbook's row = %d %v, want one that answers everybody and tells no container", status, row)
	}
	if status, _ := l.call("GET", api+"/lost", ""); status != 404 {
		t.Errorf("a forgotten record = %d, want 404", status)
	}
}
