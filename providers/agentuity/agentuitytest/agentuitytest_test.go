package agentuitytest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a server and a client that knows nothing of our adapter.
type lab struct {
	t      *testing.T
	world  *simulated.World
	clock  *simulated.Clock
	server *agentuitytest.Server
	url    string
}

func start(t *testing.T, regions ...string) *lab {
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now, DeleteAfter: 10 * time.Second, IDs: agentuitytest.IDs})
	s := agentuitytest.New(w, agentuitytest.Options{Regions: regions})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &lab{t: t, world: w, clock: clock, server: s, url: server.URL}
}

type fields = map[string]any

// An answer is one answer: its status, its JSON, its text and its headers.
type answer struct {
	status int
	all    fields
	text   string
	header http.Header
}

// data is what is inside the envelope.
func (a answer) data() fields { d, _ := a.all["data"].(fields); return d }

// at is one item of a list inside the envelope.
func (a answer) at(list string, i int) fields { return a.data()[list].([]any)[i].(fields) }

func (l *lab) call(method, path, body string) answer {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	out := answer{status: res.StatusCode, text: string(text), header: res.Header}
	_ = json.Unmarshal(text, &out.all) // some answers are no objects
	return out
}

func (l *lab) create(body string) string {
	l.t.Helper()
	made := l.call("POST", "/sandbox?orgId=org_1", body)
	id, _ := made.data()["sandboxId"].(string)
	if made.status != 201 || !strings.HasPrefix(id, "sbx_") || len(id) != 64 {
		l.t.Fatalf("create = %d %v, want an id of the vendor's form", made.status, made.all)
	}
	return id
}

// The life of a sandbox in the requests that the vendor's client makes.
func TestCreateToGone(t *testing.T) {
	l := start(t)
	id := l.create(`{"projectId":"proj_1","name":"task-1","timeout":{"idle":"10m","paused":"24h"},"metadata":{"task":"t-1","owner":"prod"}}`)
	list := l.call("GET", "/sandbox?orgId=org_1&projectId=proj_1&live=true&limit=100&offset=0&sort=created&direction=asc", "")
	row := list.at("sandboxes", 0)
	if list.data()["total"] != 1.0 || row["sandboxId"] != id || row["status"] != "idle" || row["metadata"] != nil ||
		row["project"] != nil || row["org"].(fields)["id"] != "org_1" || list.header.Get("X-Session-Id") == "" {
		t.Errorf("list = %v, want it idle, without metadata and project", list.all)
	}
	got := l.call("GET", "/sandbox/"+id+"?orgId=org_1", "").data()
	if got["metadata"].(fields)["task"] != "t-1" || got["project"].(fields)["id"] != "proj_1" || got["name"] != "task-1" {
		t.Errorf("get = %v, want its metadata and its project", got)
	}
	if out := l.call("DELETE", "/sandbox/"+id+"?orgId=org_1", ""); out.status != 200 || out.all["success"] != true {
		t.Errorf("delete = %d %v", out.status, out.all)
	}
	if got := l.call("GET", "/sandbox/status/"+id, "").data(); got["status"] != "stopping" {
		t.Errorf("status right after = %v, want stopping", got)
	}
	l.clock.Advance(11 * time.Second)
	for _, method := range []string{"GET", "DELETE"} {
		if out := l.call(method, "/sandbox/"+id, ""); out.status != 404 || out.all["code"] != "SANDBOX_NOT_FOUND" ||
			out.all["success"] != false {
			t.Errorf("%s at last = %d %v, want 404", method, out.status, out.all)
		}
	}
	if got := l.call("GET", "/sandbox/"+id+"?includeDeleted=true", "").data(); got["status"] != "terminated" {
		t.Errorf("get of what was deleted = %v, want terminated", got)
	}
	if out := l.call("GET", "/sandbox/sbx_none?includeDeleted=true", ""); out.status != 404 {
		t.Errorf("get of what never was = %d %v, want 404", out.status, out.all)
	}
}

func TestStates(t *testing.T) {
	l := start(t)
	for name, test := range map[string]struct {
		box  simulated.Sandbox
		want string
	}{
		"idle": {simulated.Sandbox{}, "idle"}, "running": {simulated.Sandbox{Running: 1}, "running"},
		"creating": {simulated.Sandbox{State: reconcile.SandboxCreating}, "creating"},
		"paused":   {simulated.Sandbox{State: reconcile.SandboxSuspended}, "paused"},
		"failed":   {simulated.Sandbox{State: reconcile.SandboxFailed}, "failed"},
		"doomed":   {simulated.Sandbox{Doomed: true}, "stopping"}, "odd": {simulated.Sandbox{Raw: "melting"}, "melting"},
	} {
		id := l.world.Put(test.box).ID
		if got := l.call("GET", "/sandbox/"+id, "").data(); got["status"] != test.want {
			t.Errorf("%s: status %v, want %s", name, got["status"], test.want)
		}
	}
}

func TestPages(t *testing.T) {
	l := start(t)
	for i := range 130 {
		l.world.Put(simulated.Sandbox{Name: fmt.Sprintf("w-%03d", i)})
		l.clock.Advance(time.Second)
	}
	for query, want := range map[string]string{
		"":                                    "50 w-129", // 50 at a time, newest first
		"limit=1000":                          "100 w-129",
		"limit=100&direction=asc":             "100 w-000",
		"limit=100&offset=99&direction=asc":   "31 w-099",
		"limit=100&offset=130&direction=asc":  "0 ",
		"name=w-007":                          "1 w-007",
		"name=none":                           "0 ",
		"status=idle&limit=1":                 "1 w-129",
		"status=paused":                       "0 ",
		"deletedOnly=true":                    "0 ",
		"sort=name&direction=asc&limit=2":     "2 w-000",
		"projectId=proj_1":                    "0 ",
		"limit=100&live=true&direction=asc":   "100 w-000",
		"snapshotId=snp_1&direction=asc&x=y":  "0 ",
		"limit=30&offset=100&direction=desc":  "30 w-029",
		"limit=100&offset=-5&direction=asc":   "100 w-000",
		"limit=nonsense&offset=x":             "50 w-129",
		"limit=10&sort=created&direction=asc": "10 w-000",
	} {
		out := l.call("GET", "/sandbox?"+query, "")
		rows := out.data()["sandboxes"].([]any)
		first := ""
		if len(rows) > 0 {
			first, _ = rows[0].(fields)["name"].(string)
		}
		if got := fmt.Sprintf("%d %s", len(rows), first); got != want {
			t.Errorf("list?%s = %q, want %q", query, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	l := start(t)
	id := l.create(`{"name":"a"}`)
	for call, want := range map[string]string{
		"GET /sandbox?orgId=org_2":                 "403 FORBIDDEN",
		"GET /services/stats/org_2":                "403 FORBIDDEN",
		"POST /sandbox/" + id + "/resume":          "409 ",
		"POST /sandbox/" + id + "/execute":         "400 ",
		"POST /sandbox/sbx_none/pause":             "404 SANDBOX_NOT_FOUND",
		"GET /sandbox/a":                           "404 SANDBOX_NOT_FOUND", // a name is no id
		"DELETE /sandbox/a":                        "404 SANDBOX_NOT_FOUND",
		"GET /sandbox/execution/exe_none":          "404 EXECUTION_NOT_FOUND",
		"GET /sandbox/snapshots/snp_none":          "404 SNAPSHOT_NOT_FOUND",
		"GET /sandbox/sandboxes/x/executions":      "404 SANDBOX_NOT_FOUND",
		"GET /sandbox/sandboxes/" + id + "/jobs/x": "404 JOB_NOT_FOUND",
	} {
		method, path, _ := strings.Cut(call, " ")
		out := l.call(method, path, "")
		code, _ := out.all["code"].(string)
		if got := fmt.Sprintf("%d %s", out.status, code); got != want || out.all["success"] != false {
			t.Errorf("%s = %s %v, want %s", call, got, out.all, want)
		}
	}
	if out := l.call("GET", "/nowhere", ""); out.status != 404 || out.all != nil {
		t.Errorf("no route = %d %q, want a plain 404", out.status, out.text)
	}
}

func TestExecute(t *testing.T) {
	l := start(t)
	for name, test := range map[string]struct {
		box    simulated.Sandbox
		body   string
		status int
		end    string // of the execution
		queued int
	}{
		"well":          {simulated.Sandbox{}, `{"command":["echo","hi"],"timeout":"10s"}`, 200, "completed", 0},
		"in a shell":    {simulated.Sandbox{}, `{"command":["sh","-c","exit 3","x"]}`, 200, "completed", 0},
		"too long":      {simulated.Sandbox{}, `{"command":["sleep","9"],"timeout":"1s"}`, 200, "timeout", 0},
		"cannot fork":   {simulated.Sandbox{Exec: simulated.NoFork}, `{"command":["true"]}`, 200, "failed", 0},
		"dead":          {simulated.Sandbox{Exec: simulated.Dead}, `{"command":["true"]}`, 500, "", 1},
		"never run":     {simulated.Sandbox{Exec: simulated.Lost}, `{"command":["true"]}`, 200, "queued", 1},
		"busy":          {simulated.Sandbox{Running: 1}, `{"command":["true"]}`, 409, "", 0},
		"failed":        {simulated.Sandbox{State: reconcile.SandboxFailed}, `{"command":["true"]}`, 409, "", 0},
		"woken by it":   {simulated.Sandbox{State: reconcile.SandboxSuspended}, `{"command":["true"]}`, 200, "completed", 0},
		"no command":    {simulated.Sandbox{}, `{}`, 400, "", 0},
		"files with it": {simulated.Sandbox{}, `{"command":["cat","/home/agentuity/a"],"files":[{"path":"a","content":"aGk="}]}`, 200, "completed", 0},
	} {
		id := l.world.Put(test.box).ID
		out := l.call("POST", "/sandbox/"+id+"/execute", test.body)
		end := ""
		if exe, _ := out.data()["executionId"].(string); exe != "" {
			end, _ = l.call("GET", "/sandbox/execution/"+exe+"?orgId=org_1&wait=0s", "").data()["status"].(string)
		}
		b, _ := l.world.Sandbox(id)
		if out.status != test.status || end != test.end || len(b.Queued) != test.queued ||
			(out.all["autoResumed"] == true) != (name == "woken by it") {
			t.Errorf("%s: execute = %d %v, then %q, %d queued; want %d, %q, %d", name, out.status, out.all, end, len(b.Queued),
				test.status, test.end, test.queued)
		}
	}
}

// What a 500 left behind is listed, and what it printed is there for everybody.
func TestExecutions(t *testing.T) {
	l := start(t)
	id := l.world.Put(simulated.Sandbox{Queued: []time.Time{l.clock.Now().Add(-time.Hour)}}).ID
	ran := l.call("POST", "/sandbox/"+id+"/execute", `{"command":["echo","hi"]}`).data()
	l.clock.Advance(time.Second)
	l.world.Change(id, func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
	l.call("POST", "/sandbox/"+id+"/execute", `{"command":["true"]}`)
	list := l.call("GET", "/sandbox/sandboxes/"+id+"/executions?limit=100", "")
	var got []string
	for i := range 3 {
		e := list.at("executions", i)
		got = append(got, fmt.Sprint(e["status"], e["command"]))
	}
	if want := "queued[true] completed[echo hi] queued[bun run task.ts]"; strings.Join(got, " ") != want {
		t.Errorf("executions = %s, want %s", got, want)
	}
	address, _ := ran["stdoutStreamUrl"].(string)
	res, err := http.Get(address + "?v=2")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); string(text) != "hi\n" || res.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("stream = %q, want what was printed", text)
	}
	events := l.call("GET", "/sandbox/sandboxes/"+id+"/events?limit=100&direction=desc", "")
	if e := events.at("events", 0); !strings.HasPrefix(e["type"].(string), "execution") || e["createdAt"] != "2026-11-01T12:00:01.000Z" {
		t.Errorf("newest event = %v", e)
	}
}

func TestFiles(t *testing.T) {
	l := start(t)
	id := l.create(`{"name":"a","files":[{"path":"a.txt","content":"aGk="}]}`)
	if out := l.call("POST", "/fs/"+id, `{"files":[{"path":"b.txt","content":"eW8="}]}`); out.data()["filesWritten"] != 1.0 {
		t.Errorf("write = %d %v", out.status, out.all)
	}
	list := l.call("GET", "/fs/list/"+id+"?path=%2Fhome%2Fagentuity&orgId=org_1", "")
	if f := list.at("files", 1); f["path"] != "b.txt" || f["size"] != 2.0 || f["isDir"] != false || f["mode"] != "0644" {
		t.Errorf("files = %v", list.all)
	}
	if out := l.call("GET", "/fs/"+id+"?path=b.txt", ""); out.text != "yo" {
		t.Errorf("read = %d %q", out.status, out.text)
	}
	for _, change := range []string{"mkdir", "rmdir"} {
		if out := l.call("POST", "/fs/"+change+"/"+id, `{"path":"d","recursive":true}`); out.status != 200 || out.all["success"] != true {
			t.Errorf("%s = %d %v", change, out.status, out.all)
		}
	}
	if out := l.call("POST", "/fs/rm/"+id, `{"path":"b.txt"}`); out.all["found"] != true {
		t.Errorf("rm = %v, want it found", out.all)
	}
	for trouble, want := range map[simulated.Trouble]string{
		simulated.NoPath: "404 no such file", simulated.Lost: "404 cow-merged", simulated.Dead: "500 Internal",
	} {
		broken := l.world.Put(simulated.Sandbox{Files: trouble}).ID
		out := l.call("GET", "/fs/list/"+broken+"?path=/", "")
		status, words, _ := strings.Cut(want, " ")
		if fmt.Sprint(out.status) != status || !strings.Contains(out.text, words) {
			t.Errorf("files of one that is %s = %d %s, want %s", trouble, out.status, out.text, want)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	l := start(t)
	id := l.create(`{"name":"a"}`)
	for _, step := range []struct {
		verb   string
		status int
		state  string
	}{
		{"pause", 200, "paused"}, {"pause", 409, "paused"}, {"resume", 200, "idle"}, {"resume", 409, "idle"},
	} {
		out := l.call("POST", "/sandbox/"+id+"/"+step.verb, "")
		now := l.call("GET", "/sandbox/"+id, "").data()["status"]
		if out.status != step.status || now != step.state {
			t.Errorf("%s = %d %v, then %v; want %d, then %s", step.verb, out.status, out.all, now, step.status, step.state)
		}
		if step.verb == "pause" && out.status == 200 && (out.all["status"] != "paused" || out.all["checkpointId"] == nil) {
			t.Errorf("pause = %v, want its answer at the top level", out.all)
		}
	}
}

// A data plane knows the sandboxes of its region, and where the others are.
func TestRegions(t *testing.T) {
	l := start(t, "usc", "usw")
	id := l.world.Put(simulated.Sandbox{Region: "usw", Name: "west"}).ID
	l.world.Put(simulated.Sandbox{Name: "central"})
	for path, want := range map[string]int{"/usc/sandbox": 1, "/usw/sandbox": 1, "/sandbox": 1, "/cli/sandbox": 2} {
		if out := l.call("GET", path+"?limit=100", ""); out.data()["total"] != float64(want) {
			t.Errorf("GET %s = %v, want %d", path, out.all, want)
		}
	}
	out := l.call("DELETE", "/usc/sandbox/"+id, "")
	if out.status != 421 || out.header.Get("X-Agentuity-Region") != "usw" {
		t.Errorf("delete in the wrong region = %d %v, want 421 and the region", out.status, out.header)
	}
	if out := l.call("GET", "/usw/sandbox/"+id, ""); out.status != 200 || out.data()["region"] != "usw" {
		t.Errorf("get in its region = %d %v", out.status, out.all)
	}
	if out := l.call("GET", "/cli/sandbox/"+id, ""); out.data()["region"] != "usw" || out.data()["name"] != "west" {
		t.Errorf("resolve = %v", out.all)
	}
	if out := l.call("GET", "/cli/region", ""); len(out.all["data"].([]any)) != 2 {
		t.Errorf("regions = %v, want two", out.all)
	}
	if out := l.call("GET", "/services/stats/org_1?service=sandbox", ""); out.data()["services"].(fields)["sandbox"].(fields)["totalActive"] != 2.0 {
		t.Errorf("totals = %v, want both", out.all)
	}
}

func TestJobsAndSnapshots(t *testing.T) {
	l := start(t)
	id := l.create(`{"name":"a"}`)
	l.server.PutJob(id, l.clock.Now().Add(-time.Hour))
	made := l.call("POST", "/sandbox/sandboxes/"+id+"/jobs", `{"command":["sleep","9"]}`)
	list := l.call("GET", "/sandbox/sandboxes/"+id+"/jobs", "")
	if j := list.at("jobs", 0); j["status"] != "running" || j["startedAt"] != "2026-11-01T11:00:00.000Z" || made.status != 201 {
		t.Errorf("jobs = %v after %v", list.all, made.all)
	}
	job, _ := made.data()["jobId"].(string)
	if out := l.call("DELETE", "/sandbox/sandboxes/"+id+"/jobs/"+job, ""); out.data()["status"] != "cancelled" {
		t.Errorf("stop = %v", out.all)
	}
	l.world.PutTemplate(simulated.Template{Name: "old", Raw: "deleted"})
	snap := l.call("POST", "/sandbox/"+id+"/snapshot", `{"name":"base"}`)
	ref, _ := snap.data()["snapshotId"].(string)
	for asked, want := range map[string]int{"base": 1, "base:latest": 1, ref: 1, "none": 0, "old": 1} {
		out := l.call("GET", "/sandbox/snapshots/lineage?snapshot="+asked, "")
		if out.data()["total"] != float64(want) {
			t.Errorf("lineage of %s = %v, want %d", asked, out.all, want)
		}
		if asked == "old" && out.at("lineage", 0)["deleted"] != true {
			t.Errorf("lineage of one that was deleted = %v", out.all)
		}
	}
	if out := l.call("GET", "/sandbox/snapshots/"+ref, ""); out.data()["name"] != "base" {
		t.Errorf("snapshot = %v", out.all)
	}
	if out := l.call("DELETE", "/sandbox/snapshots/"+ref, ""); out.status != 204 {
		t.Errorf("delete of a snapshot = %d", out.status)
	}
}
