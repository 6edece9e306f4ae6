package verceltest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

func TestCommands(t *testing.T) {
	l := start(t, verceltest.Options{Missing: []string{"node"}})
	session := "/v2/sandboxes/sessions/" + l.create("w1", "")
	_, _, text := l.call("POST", session+"/cmd", `{"command":"echo","args":["hi"],"env":{},"wait":true,"logs":true}`)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"exitCode":null`) || !strings.Contains(lines[1], `"stream":"stdout"`) ||
		!strings.Contains(lines[2], `"exitCode":0`) || !strings.Contains(lines[2], `"durationMs":3`) {
		t.Errorf("a command that is waited for = %s, want its beginning, its output, its end", text)
	}
	_, out, _ := l.call("POST", session+"/cmd", `{"command":"false"}`)
	id, _ := says(out, "command", "id").(string)
	if says(out, "command", "exitCode") != nil || id == "" {
		t.Errorf("a command in the background = %v, want no exit code yet", out)
	}
	if _, out, _ := l.call("GET", session+"/cmd/"+id+"?wait=true", ""); says(out, "command", "exitCode") != 1.0 {
		t.Errorf("the command later = %v, want exit code 1", out)
	}
	_, out, _ = l.call("GET", session+"/cmd", "")
	if list := says(out, "commands").([]any); len(list) != 2 || says(list[0], "id") != id {
		t.Errorf("commands = %v, want two, newest first", list)
	}
	for path, want := range map[string]int{"/cmd/" + id + "/logs": 200, "/cmd/cmd_none": 404, "/cmd/cmd_none/logs": 404} {
		if status, _, text := l.call("GET", session+path, ""); status != want {
			t.Errorf("%s = %d %s, want %d", path, status, text, want)
		}
	}
	for body, want := range map[string]string{
		`{"command":"node"}`: "400 executable_not_found", `{}`: "400 bad_request", `x`: "400 bad_request",
	} {
		status, out, _ := l.call("POST", session+"/cmd", body)
		if got := fmt.Sprint(status, " ", says(out, "error", "code")); got != want {
			t.Errorf("command %s = %s, want %s", body, got, want)
		}
	}
	_, _, text = l.call("POST", session+"/cmd", `{"command":"sleep","args":["9"],"wait":true,"timeout":2000}`)
	if !strings.Contains(text, `"exitCode":137`) || !strings.Contains(text, `"durationMs":2000`) {
		t.Errorf("a command that outlasts its time = %s, want it killed", text)
	}
}

func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, packed} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestFiles(t *testing.T) {
	l := start(t, verceltest.Options{})
	id := l.create("w1", "")
	session := "/v2/sandboxes/sessions/" + id
	if status, _, text := l.call("POST", session+"/fs/write", archive(t, map[string]string{"a/b.txt": "hello"}),
		"X-Cwd", "/vercel/sandbox"); status != 200 {
		t.Errorf("write = %d %s", status, text)
	}
	if status, _, text := l.call("POST", session+"/fs/mkdir", `{"path":"new"}`); status != 200 {
		t.Errorf("mkdir = %d %s", status, text)
	}
	for body, want := range map[string]string{
		`{"path":"a/b.txt"}`:                         "200 hello",
		`{"path":"b.txt","cwd":"/vercel/sandbox/a"}`: "200 hello",
		`{"path":"/etc/hostname"}`:                   "200 " + id,
		`{"path":"/nope"}`:                           "404 not_found",
		`{"path":"new"}`:                             "400 file_error",
		`{}`:                                         "400 bad_request",
	} {
		status, out, text := l.call("POST", session+"/fs/read", body)
		if code, failed := says(out, "error", "code").(string); failed {
			text = code
		}
		if got := fmt.Sprint(status, " ", strings.TrimSpace(text)); got != want {
			t.Errorf("read %s = %s, want %s", body, got, want)
		}
	}
	_, _, text := l.call("POST", session+"/cmd", `{"command":"ls","args":["-1","."],"wait":true,"logs":true}`)
	if !strings.Contains(text, `"data":"a\n"`) || !strings.Contains(text, `"data":"new\n"`) {
		t.Errorf("ls = %s, want both folders", text)
	}
	if status, _, _ := l.call("POST", session+"/fs/write", "no archive"); status != 400 {
		t.Errorf("write of no archive = %d, want 400", status)
	}
}

func TestSnapshots(t *testing.T) {
	l := start(t, verceltest.Options{})
	id := l.create("w1", "")
	session := "/v2/sandboxes/sessions/" + id
	if status, _, _ := l.call("POST", session+"/snapshot", `{"expiration":5}`); status != 400 {
		t.Errorf("a snapshot for five milliseconds = %d, want 400", status)
	}
	status, out, _ := l.call("POST", session+"/snapshot", "")
	made, _ := says(out, "snapshot", "id").(string)
	if status != 201 || made == "" || says(out, "session", "status") != "stopping" {
		t.Fatalf("snapshot = %d %v, want 201 and the session on its way to stop", status, out)
	}
	if _, out, _ := l.call("GET", "/v2/sandboxes/snapshots/"+made, ""); says(out, "snapshot", "status") != "created" ||
		says(out, "snapshot", "expiresAt") == nil {
		t.Errorf("get snapshot = %v, want it created, with an end", out)
	}
	l.create("w2", `,"source":{"type":"snapshot","snapshotId":"`+made+`"}`)
	if _, out, _ := l.call("DELETE", "/v2/sandboxes/snapshots/"+made, ""); says(out, "snapshot", "status") != "deleted" {
		t.Errorf("delete snapshot = %v", out)
	}
	if status, _, _ := l.call("GET", "/v2/sandboxes/snapshots/"+made, ""); status != 404 {
		t.Errorf("get of a deleted snapshot = %d, want 404", status)
	}
	if status, out, _ := l.call("POST", "/v3/sandboxes", `{"projectId":"prj_1","source":{"type":"snapshot","snapshotId":"`+
		made+`"}}`); status != 410 || says(out, "error", "code") != "snapshot_not_found" {
		t.Errorf("create from a deleted snapshot = %d %v, want 410", status, out)
	}
}

// A sandbox that is not kept cannot be resumed.
func TestNotPersistent(t *testing.T) {
	l := start(t, verceltest.Options{})
	id := l.create("w1", `,"persistent":false`)
	l.call("POST", "/v2/sandboxes/sessions/"+id+"/stop", "")
	l.clock.Advance(2 * time.Second)
	if status, out, _ := l.call("GET", "/v2/sandboxes/w1?resume=true", ""); status != 410 ||
		says(out, "error", "code") != "snapshot_not_found" {
		t.Errorf("resume = %d %v, want 410", status, out)
	}
}
