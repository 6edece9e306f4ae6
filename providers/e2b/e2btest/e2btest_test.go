package e2btest_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lab is a server and a client that knows nothing of our adapter.
type lab struct {
	*testing.T
	server *e2btest.Server
	world  *simulated.World
	clock  *simulated.Clock
	url    string
}

func start(t *testing.T) *lab {
	clock := simulated.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	w := simulated.New(simulated.Options{Now: clock.Now, IDs: e2btest.ID, Limits: simulated.Limits{CPU: 3}})
	s := e2btest.New(w, e2btest.Options{})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &lab{T: t, server: s, world: w, clock: clock, url: server.URL}
}

type fields = map[string]any

// An answer is one that came, its body as it is and as JSON.
type answer struct {
	status int
	header http.Header
	body   string
	json   any
}

func (a answer) field(name string) any {
	in, _ := a.json.(fields)
	return in[name]
}

// call makes one call; an even place of header holds a name.
func (l *lab) call(method, path, body string, header ...string) answer {
	l.Helper()
	req, err := http.NewRequestWithContext(l.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		l.Fatal(err)
	}
	req.Header.Set("X-API-Key", "e2b_key")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.Fatal(err)
	}
	out := answer{status: res.StatusCode, header: res.Header, body: string(text)}
	_ = json.Unmarshal(text, &out.json) // some answers are no JSON
	return out
}

// inside makes a call to the daemon of a sandbox, with its token.
func (l *lab) inside(id, path, body string, header ...string) answer {
	l.Helper()
	token, _ := l.call("GET", "/sandboxes/"+id, "").field("envdAccessToken").(string)
	return l.call("POST", path, body, append([]string{"E2b-Sandbox-Id", id, "X-Access-Token", token,
		"Content-Type", "application/json"}, header...)...)
}

// exec runs a command and tells the frames that came.
func (l *lab) exec(id, command string) (frames []string, whole answer) {
	l.Helper()
	text := fmt.Sprintf(`{"process":{"cmd":"/bin/bash","args":["-l","-c",%q]},"stdin":false}`, command)
	body := string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))) + text
	whole = l.inside(id, "/process.Process/Start", body, "Content-Type", "application/connect+json", "Connect-Timeout-Ms", "1000")
	for rest := []byte(whole.body); whole.status == 200 && len(rest) > 4; {
		n := binary.BigEndian.Uint32(rest[1:5])
		frames = append(frames, fmt.Sprint(rest[0], " ", string(rest[5:5+n])))
		rest = rest[5+n:]
	}
	return frames, whole
}

func TestCreateToGone(t *testing.T) {
	l := start(t)
	made := l.call("POST", "/v2/sandboxes", `{"templateID":"base","metadata":{"task":"t 1"},"timeout":60}`)
	id, _ := made.field("sandboxID").(string)
	if made.status != 201 || len(id) != 20 || id[0] != 'i' || made.field("envdAccessToken") == nil ||
		made.field("envdVersion") != "0.5.8" || made.field("state") != nil {
		t.Fatalf("create = %+v", made)
	}
	got := l.call("GET", "/sandboxes/"+id+"-6532622b", "")
	if got.field("sandboxID") != id || got.field("state") != "running" || got.field("alias") != "base" ||
		got.field("endAt") != "2026-11-01T12:01:00Z" || got.header.Get("Date") != "Sun, 01 Nov 2026 12:00:00 GMT" {
		t.Errorf("get by the long id = %+v", got)
	}
	if got := l.call("POST", "/sandboxes/"+id+"/timeout", `{"timeout":600}`); got.status != 204 {
		t.Errorf("timeout = %+v", got)
	}
	if got := l.call("POST", "/sandboxes/"+id+"/timeout", `{"timeout":90000}`); got.status != 400 {
		t.Errorf("a time-out of more than a day = %+v, want 400", got)
	}
	if got := l.call("POST", "/sandboxes/"+id+"/refreshes", `{"duration":60}`); got.status != 204 ||
		l.call("GET", "/sandboxes/"+id, "").field("endAt") != "2026-11-01T12:10:00Z" {
		t.Errorf("a refresh = %+v, want the end no sooner", got)
	}
	for _, want := range []int{204, 404} {
		if got := l.call("DELETE", "/sandboxes/"+id, ""); got.status != want {
			t.Errorf("kill = %+v, want %d", got, want)
		}
	}
	gone := l.call("GET", "/sandboxes/"+id, "")
	if want := `Sandbox "` + id + `" doesn't exist or you don't have access to it`; gone.status != 404 ||
		gone.field("message") != want || gone.field("code") != 404.0 {
		t.Errorf("get at last = %+v, want %q", gone, want)
	}
	if events := l.call("GET", "/events/sandboxes/"+id+"?orderAsc=true", ""); strings.Count(events.body, "lifecycle.") != 4 ||
		!strings.Contains(events.body, "sandbox.lifecycle.killed") {
		t.Errorf("events = %s, want created, 2 updated and killed", events.body)
	}
}

func TestEndsByItself(t *testing.T) {
	l := start(t)
	killed := l.call("POST", "/sandboxes", `{"templateID":"base"}`).field("sandboxID").(string)
	paused := l.call("POST", "/v2/sandboxes", `{"templateID":"base","autoPause":true}`).field("sandboxID").(string)
	l.clock.Advance(16 * time.Second)
	if got := l.call("GET", "/sandboxes/"+killed, ""); got.status != 404 {
		t.Errorf("get after 15 s = %+v, want 404", got)
	}
	l.clock.Advance(5 * time.Minute)
	if got := l.call("GET", "/sandboxes/"+paused, ""); got.field("state") != "paused" {
		t.Errorf("get after 5 minutes = %+v, want it paused", got)
	}
	l.clock.Advance(1000 * time.Hour)
	if got := l.call("GET", "/sandboxes/"+paused, ""); got.field("state") != "paused" {
		t.Errorf("get long after = %+v, want it paused for ever", got)
	}
}

func TestPauseAndConnect(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{ExpiresAt: l.clock.Now().Add(time.Hour)})
	path := "/sandboxes/" + s.ID
	l.clock.Advance(time.Minute)
	for _, want := range []int{204, 409} {
		if got := l.call("POST", path+"/pause", "{}"); got.status != want {
			t.Errorf("pause = %+v, want %d", got, want)
		}
	}
	if got := l.call("GET", path, ""); got.field("state") != "paused" || got.field("endAt") != "2026-11-01T12:01:00Z" {
		t.Errorf("get = %+v, want the end to be when it was paused", got)
	}
	if got := l.call("POST", path+"/timeout", `{"timeout":60}`); got.status != 409 {
		t.Errorf("timeout of a paused one = %+v, want 409", got)
	}
	l.clock.Advance(time.Minute)
	for _, want := range []int{201, 200} {
		if got := l.call("POST", path+"/connect", `{"timeout":60}`); got.status != want || got.field("sandboxID") != s.ID {
			t.Errorf("connect = %+v, want %d", got, want)
		}
	}
	if got := l.call("GET", path, ""); got.field("state") != "running" || got.field("startedAt") != "2026-11-01T12:02:00Z" ||
		got.field("endAt") != "2026-11-01T12:03:00Z" {
		t.Errorf("get = %+v, want a new start and a new end", got)
	}
	l.world.Change(s.ID, func(s *simulated.Sandbox) { s.Locked = true })
	if got := l.call("POST", path+"/pause", ""); got.status != 409 {
		t.Errorf("pause of a busy one = %+v, want 409", got)
	}
	if got := l.call("DELETE", path, ""); got.status != 500 {
		t.Errorf("kill of a busy one = %+v, want 500", got)
	}
	for _, call := range []string{"/pause", "/connect", "/timeout"} {
		if got := l.call("POST", "/sandboxes/none"+call, "{}"); got.status != 404 {
			t.Errorf("%s of none = %+v, want 404", call, got)
		}
	}
}

func TestCreateRefused(t *testing.T) {
	l := start(t)
	for body, want := range map[string]int{
		`{}`: 400, `x`: 400, `{"templateID":"none"}`: 404, `{"templateID":"base","timeout":90000}`: 400,
	} {
		if got := l.call("POST", "/v2/sandboxes", body); got.status != want {
			t.Errorf("create %s = %+v, want %d", body, got, want)
		}
	}
	for range 3 {
		l.world.Put(simulated.Sandbox{})
	}
	if got := l.call("POST", "/v2/sandboxes", `{"templateID":"base"}`); got.status != 429 ||
		!strings.Contains(got.body, "maximum number of concurrent") || got.header.Get("Retry-After") != "" {
		t.Errorf("one too many = %+v, want 429 without a time to wait", got)
	}
}

func TestListPagesAndFilters(t *testing.T) {
	l := start(t)
	for i := range 5 {
		s := simulated.Sandbox{Labels: map[string]string{"odd": fmt.Sprint(i % 2), "task": "a=b &c"},
			CreatedAt: l.clock.Now().Add(time.Duration(i) * time.Minute)}
		if i == 0 {
			s.State = reconcile.SandboxSuspended
		}
		l.world.Put(s)
	}
	read := func(query string) (starts []string, pages int) {
		for token := ""; ; {
			got := l.call("GET", "/v2/sandboxes?"+query+"&nextToken="+url.QueryEscape(token), "")
			if got.status != 200 {
				return nil, got.status
			}
			pages++
			for _, item := range got.json.([]any) {
				starts = append(starts, item.(fields)["startedAt"].(string)[14:16])
			}
			if token = got.header.Get("X-Next-Token"); token == "" {
				return starts, pages
			}
		}
	}
	for query, want := range map[string]string{
		"":                               "[04 03 02 01 00] 1",
		"limit=2":                        "[04 03 02 01 00] 3",
		"limit=2&order=asc":              "[00 01 02 03 04] 3",
		"limit=5&order=asc":              "[00 01 02 03 04] 1",
		"order=asc&state=paused":         "[00] 1",
		"order=asc&state=running,paused": "[00 01 02 03 04] 1",
		"order=asc&metadata=odd%3D1":     "[01 03] 1",
		"metadata=odd%3D1%26x%3Dy":       "[] 1",
		"order=asc&template=none":        "[] 1",
		"order=asc&startedAfter=2026-11-01T12:03:00Z":        "[03 04] 1",
		"order=asc&metadata=task%3Da%25253Db%252520%252526c": "[00 01 02 03 04] 1",
		"limit=0": "[] 400", "limit=101": "[] 400", "nextToken=x": "[] 400", "metadata=a%3Db%3Dc": "[] 400",
		"order=up": "[] 400", "startedAfter=soon": "[] 400",
	} {
		starts, pages := read(query)
		if got := fmt.Sprint(starts, " ", pages); got != want {
			t.Errorf("list?%s = %s, want %s", query, got, want)
		}
	}
	first := l.call("GET", "/v2/sandboxes?limit=2&order=asc", "")
	if first.header.Get("X-Total-Running") != "4" {
		t.Errorf("X-Total-Running = %s, want 4", first.header.Get("X-Total-Running"))
	}
	token := url.QueryEscape(first.header.Get("X-Next-Token"))
	if got := l.call("GET", "/v2/sandboxes?limit=2&order=desc&nextToken="+token, ""); got.status != 400 ||
		got.field("message") != "Invalid next token" {
		t.Errorf("a token of another order = %+v, want 400", got)
	}
}

func TestErrors(t *testing.T) {
	l := start(t)
	if got := l.call("GET", "/v2/sandboxes", "", "X-API-Key", "wrong"); got.status != 401 || got.field("code") != 401.0 {
		t.Errorf("a wrong key = %+v, want 401", got)
	}
	if got := l.call("GET", "/nonsense", ""); got.status != 404 || got.field("message") != "no matching operation was found" {
		t.Errorf("no route = %+v", got)
	}
	if got := l.call("GET", "/templates/base/other", ""); got.status != 404 {
		t.Errorf("no route below a template = %+v", got)
	}
}

// The daemon's frames, one by one.
func TestExec(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{})
	const begun, over = `0 {"event":{"start":{"pid":1204}}}`, `2 {}`
	for command, want := range map[string][]string{
		"true":     {begun, `0 {"event":{"end":{"exited":true,"status":"exit status 0"}}}`, over},
		"echo ok":  {begun, `0 {"event":{"data":{"stdout":"b2sK"}}}`, `0 {"event":{"end":{"exited":true,"status":"exit status 0"}}}`, over},
		"exit 3":   {begun, `0 {"event":{"end":{"error":"exit status 3","exitCode":3,"exited":true,"status":"exit status 3"}}}`, over},
		"sleep 60": {begun, `2 {"error":{"code":"deadline_exceeded","message":"context deadline exceeded"}}`},
	} {
		frames, whole := l.exec(s.ID, command)
		if strings.Join(frames, "\n") != strings.Join(want, "\n") || whole.header.Get("Content-Type") != "application/connect+json" {
			t.Errorf("%s = %q, want %q", command, frames, want)
		}
	}
	l.world.Change(s.ID, func(s *simulated.Sandbox) { s.Exec = simulated.NoFork })
	if frames, _ := l.exec(s.ID, "true"); len(frames) != 1 || !strings.Contains(frames[0], "error starting process") {
		t.Errorf("exec without a fork = %q", frames)
	}
	if got := l.inside(s.ID, "/process.Process/Start", "{}"); got.status != 415 {
		t.Errorf("exec without frames = %+v, want 415", got)
	}
}

// Who stands before the sandboxes says what they cannot say themselves.
func TestProxy(t *testing.T) {
	l := start(t)
	put := func(s simulated.Sandbox) string { return l.world.Put(s).ID }
	const lost, closed = "The sandbox was not found", "The sandbox is running but port is not open"
	for name, test := range map[string]struct {
		id     string
		status int
		words  string
	}{
		"healthy":        {put(simulated.Sandbox{}), 200, ""},
		"dead":           {put(simulated.Sandbox{Files: simulated.Dead}), 502, closed},
		"lost":           {put(simulated.Sandbox{Files: simulated.Lost}), 502, lost},
		"paused":         {put(simulated.Sandbox{State: reconcile.SandboxSuspended}), 502, lost},
		"none":           {"i0", 502, lost},
		"its key lost":   {put(simulated.Sandbox{Files: simulated.Unknown}), 401, "unauthorized access"},
		"takes too long": {put(simulated.Sandbox{Files: simulated.TimedOut}), 504, "deadline"},
		"no path":        {put(simulated.Sandbox{Files: simulated.NoPath}), 404, "not found"},
	} {
		got := l.inside(test.id, "/filesystem.Filesystem/ListDir", `{"path":"/","depth":1}`)
		if got.status != test.status || !strings.Contains(got.body, test.words) {
			t.Errorf("%s = %+v, want %d %s", name, got, test.status, test.words)
		}
	}
	healthy := put(simulated.Sandbox{})
	if got := l.call("GET", "/health", "", "E2b-Sandbox-Id", healthy); got.status != 204 {
		t.Errorf("health without a token = %+v, want 204", got)
	}
	if got := l.call("GET", "/files?path=/x", "", "E2b-Sandbox-Id", healthy); got.status != 401 {
		t.Errorf("a file without a token = %+v, want 401", got)
	}
	if got := l.call("GET", "/health", "", "E2b-Sandbox-Id", healthy, "E2b-Sandbox-Port", "49999"); got.status != 502 {
		t.Errorf("another port = %+v, want 502", got)
	}
}

// The trap: what was made so wakes at any call.
func TestAutoResume(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{State: reconcile.SandboxSuspended})
	l.server.Live(s.ID, e2btest.Lifecycle{Pauses: true, AutoResume: true}, time.Time{})
	if got := l.call("GET", "/sandboxes/"+s.ID, ""); got.field("state") != "paused" {
		t.Fatalf("a get = %+v, want it left paused", got)
	}
	if got := l.call("GET", "/health", "", "E2b-Sandbox-Id", s.ID); got.status != 204 {
		t.Errorf("health = %+v", got)
	}
	if got := l.call("GET", "/sandboxes/"+s.ID, ""); got.field("state") != "running" {
		t.Errorf("get = %+v, want it awake", got)
	}
}

func TestFiles(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{})
	form := func(names ...string) (body, kind string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, name := range names {
			p, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}})
			_, _ = io.WriteString(p, "text of "+name)
		}
		_ = w.Close()
		return b.String(), w.FormDataContentType()
	}
	body, kind := form("/tmp/a", "b")
	if got := l.inside(s.ID, "/files", body, "Content-Type", kind); got.status != 200 ||
		!strings.Contains(got.body, `"path":"/home/user/b"`) {
		t.Errorf("upload = %+v", got)
	}
	if got := l.inside(s.ID, "/files?path=/tmp/c", "raw", "Content-Type", "application/octet-stream"); got.status != 200 {
		t.Errorf("upload of bytes = %+v", got)
	}
	now, _ := l.world.Sandbox(s.ID)
	for name, want := range map[string]string{"/tmp/a": "text of /tmp/a", "/home/user/b": "text of b", "/tmp/c": "raw"} {
		if now.Disk[name] != want {
			t.Errorf("%s holds %q, want %q", name, now.Disk[name], want)
		}
	}
	for path, want := range map[string]int{"/tmp/a": 200, "/tmp": 200, "/none": 404} {
		if got := l.inside(s.ID, "/filesystem.Filesystem/Stat", `{"path":"`+path+`"}`); got.status != want {
			t.Errorf("stat of %s = %+v, want %d", path, got, want)
		}
	}
	if got := l.inside(s.ID, "/filesystem.Filesystem/ListDir", `{"path":"/tmp/a"}`); got.status != 400 {
		t.Errorf("the list of a file = %+v, want 400", got)
	}
	if got := l.inside(s.ID, "/filesystem.Filesystem/ListDir", `{"path":"/bin"}`); strings.TrimSpace(got.body) != "{}" {
		t.Errorf("an empty folder = %q, want an empty object", got.body)
	}
	if got := l.inside(s.ID, "/filesystem.Filesystem/Remove", `{"path":"/tmp/a"}`); got.status != 200 {
		t.Errorf("remove = %+v", got)
	}
	if now, _ := l.world.Sandbox(s.ID); len(now.Disk) != 2 {
		t.Errorf("the disk holds %v, want two files", now.Disk)
	}
}

func TestTemplates(t *testing.T) {
	l := start(t)
	made := l.world.PutTemplate(simulated.Template{Name: "dev", State: reconcile.TemplateFailed})
	for path, want := range map[string]int{
		"/templates/aliases/dev": 200, "/templates/aliases/lab%2Fdev": 200, "/templates/aliases/dev:v1": 200,
		"/templates/aliases/dev:v9": 404, "/templates/aliases/none": 404, "/templates/aliases/base": 403,
		"/templates/" + made.ID: 200, "/templates/dev": 404, "/templates/" + made.ID + "/tags": 200, "/templates/none/tags": 404,
	} {
		if got := l.call("GET", path, ""); got.status != want {
			t.Errorf("%s = %+v, want %d", path, got, want)
		}
	}
	if got := l.call("GET", "/templates/"+made.ID, ""); !strings.Contains(got.body, `"buildID":"b-`+made.ID+`"`) ||
		!strings.Contains(got.body, `"status":"error"`) {
		t.Errorf("template = %s", got.body)
	}
	if got := l.call("GET", "/v2/templates", ""); len(got.json.([]any)) != 1 {
		t.Errorf("templates = %s, want ours alone", got.body)
	}
}

func TestAccount(t *testing.T) {
	l := start(t)
	s := l.world.Put(simulated.Sandbox{Log: "one\ntwo\n"})
	if got := l.call("GET", "/teams/"+e2btest.Team+"/metrics", ""); !strings.Contains(got.body, `"concurrentSandboxes":1`) {
		t.Errorf("team = %+v", got)
	}
	if got := l.call("GET", "/teams/other/metrics", ""); got.status != 403 {
		t.Errorf("another team = %+v, want 403", got)
	}
	if got := l.call("GET", "/sandboxes/metrics?sandbox_ids="+s.ID+",none", ""); strings.Count(got.body, "cpuUsedPct") != 1 {
		t.Errorf("metrics of two = %s, want those of one", got.body)
	}
	logs := l.call("GET", "/v2/sandboxes/"+s.ID+"/logs?direction=backward&limit=1", "")
	if !strings.Contains(logs.body, `"message":"two"`) || strings.Contains(logs.body, `"message":"one"`) {
		t.Errorf("the last line = %s", logs.body)
	}
	for _, path := range []string{"/sandboxes/none/metrics", "/v2/sandboxes/none/logs"} {
		if got := l.call("GET", path, ""); got.status != 404 {
			t.Errorf("%s = %+v, want 404", path, got)
		}
	}
}
