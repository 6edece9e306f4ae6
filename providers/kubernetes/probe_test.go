package kubernetes

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The words are those of a kubelet 1.36 with containerd 1.6 and of its API server.
func TestVerdict(t *testing.T) {
	const runtime = "Internal error occurred: error executing command in container: failed to exec in container: "
	for name, test := range map[string]struct {
		ran  ran
		want reconcile.ProbeOutcome
	}{
		"it ended":                        {ran{exit: 0}, ""},
		"it ended badly":                  {ran{exit: 9}, ""},
		"it was ended from inside":        {ran{exit: 124}, reconcile.Hung},
		"somebody ended it":               {ran{exit: 143}, ""},
		"busybox makes no process":        {ran{exit: 2, output: "sh: can't fork: Resource temporarily unavailable\n"}, reconcile.CannotStart},
		"dash makes no process":           {ran{exit: 2, output: "sh: 1: Cannot fork\n"}, reconcile.CannotStart},
		"bash makes no process":           {ran{exit: 254, output: "sh: fork: Resource temporarily unavailable\n"}, reconcile.CannotStart},
		"it speaks of forks, and is well": {ran{exit: 0, output: "cannot fork"}, ""},
		"it has no fork":                  {ran{exit: 2, output: "fork: no such file"}, ""},
		"it was killed":                   {ran{exit: 137}, ""},
		"nothing came back":               {ran{err: context.DeadlineExceeded, entered: true, unspoken: true}, reconcile.Hung},
		"nobody opened":                   {ran{err: context.DeadlineExceeded, unspoken: true}, reconcile.Infrastructure},
		"the caller left":                 {ran{err: context.Canceled, entered: true}, reconcile.Infrastructure},
		"no right to":                     {ran{err: reconcile.ErrUnauthorized}, reconcile.Infrastructure},
		"too often":                       {ran{err: reconcile.ErrThrottled}, reconcile.Infrastructure},
		"no shell":                        {ran{err: errors.New(runtime + `failed to start exec "6d": OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown`)}, reconcile.CannotStart},
		"no more processes":               {ran{err: errors.New(runtime + `failed to start exec "6d": OCI runtime exec failed: fork/exec /proc/self/exe: resource temporarily unavailable: unknown`)}, reconcile.CannotStart},
		"its file system is lost":         {ran{err: errors.New(runtime + `failed to create exec "6d": mkdir /run/x: no such file or directory: unknown`)}, reconcile.CannotStart},
		"the container ended":             {ran{err: errors.New(`unable to upgrade connection: container not found ("main")`)}, reconcile.NotAllowed},
		"the container is being ended":    {ran{err: errors.New(runtime + `failed to start exec "6d": OCI runtime exec failed: exec failed: cannot exec in a stopped state: unknown`)}, reconcile.NotAllowed},
		"the container exited":            {ran{err: errors.New(`Internal error occurred: container is in CONTAINER_EXITED state`)}, reconcile.NotAllowed},
		"no node has it yet":              {ran{err: errors.New(`pod p1 does not have a host assigned`)}, reconcile.NotAllowed},
		"the node is not reached":         {ran{err: errors.New(`error dialing backend: dial tcp 192.0.2.7:10250: connect: connection refused`)}, reconcile.Infrastructure},
		"the node is slow":                {ran{err: errors.New(`error dialing backend: dial tcp 192.0.2.7:10250: i/o timeout`)}, reconcile.Infrastructure},
		"the runtime is down":             {ran{err: errors.New(runtime + `failed to create exec "6d": rpc error: code = Unavailable desc = connection error`)}, reconcile.Infrastructure},
		"the node's certificate is over":  {ran{err: errors.New(`error dialing backend: tls: failed to verify certificate: x509: certificate has expired`)}, reconcile.Infrastructure},
		"words that nobody knows":         {ran{err: errors.New(`something melted`)}, reconcile.Infrastructure},
	} {
		if got := test.ran.verdict(5 * time.Second); got.Outcome != test.want || (got.Outcome == "") != (got.Words == "") {
			t.Errorf("%s: %+v, want %q", name, got, test.want)
		}
	}
}

// What a person reads begins with the reason.
func TestCause(t *testing.T) {
	const reason = `exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown`
	for text, want := range map[string]string{
		"Internal error occurred: Internal error occurred: error executing command in container: failed to exec in container: " +
			`failed to start exec "6d": OCI runtime exec failed: ` + reason: reason,
		"error dialing backend: no route to host": "error dialing backend: no route to host",
	} {
		if got := cause(text); got != want {
			t.Errorf("cause(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestFilesVerdict(t *testing.T) {
	for name, test := range map[string]struct {
		ran  ran
		want reconcile.ProbeOutcome
	}{
		"all well":                {ran{exit: 0}, reconcile.Answered},
		"the folder is lost":      {ran{exit: 41, output: "ls: /: Input/output error"}, reconcile.CannotStart},
		"it cannot be written":    {ran{exit: 42, output: "sh: write error: Input/output error"}, reconcile.CannotStart},
		"it is full":              {ran{exit: 42, output: "sh: write error: No space left on device"}, reconcile.Answered},
		"its share is used up":    {ran{exit: 42, output: "echo: write error: Disk quota exceeded"}, reconcile.Answered},
		"it reads something else": {ran{exit: 43}, reconcile.CannotStart},
		"the shell does not know": {ran{exit: 127, output: "sh: ls: not found"}, reconcile.Answered},
	} {
		if got := test.ran.files(); got.Outcome != test.want || got.Words == "" {
			t.Errorf("%s: %+v, want %s and words", name, got, test.want)
		}
	}
}

// A cluster takes a connection over before it has called the node. What hangs then speaks
// against the container only where its node answers.
func TestSilentNode(t *testing.T) {
	for answer, want := range map[string]reconcile.ProbeOutcome{
		"200 a line": reconcile.Hung, "500 error dialing backend: i/o timeout": reconcile.Infrastructure,
	} {
		c := scripted(t, entry.Entry{}, map[string][]string{"GET " + podPath + "/log": {answer}})
		at := target{name{pods, "default", "p1", "u1"}, "main"}
		hung := wire.ProbePart{Outcome: reconcile.Hung, Words: "no answer"}
		if got := c.reached(t.Context(), at, ran{unspoken: true}, hung); got.Outcome != want {
			t.Errorf("log %q: %+v, want %s", answer, got, want)
		}
		if got := c.reached(t.Context(), at, ran{exit: 124}, hung); got != hung || c.count("GET") != 1 {
			t.Errorf("what its own time-out ended = %+v, want it hung without a question", got)
		}
	}
}

// The scripts do in a real shell what the verdicts take them for.
func TestScripts(t *testing.T) {
	folder, tmp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "notes"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := func(more ...string) []string { return append([]string{"-c", filesScript, "files"}, more...) }
	for name, test := range map[string]struct {
		args []string
		env  string
		exit int
		out  string
	}{
		"a command":                  {[]string{"-c", runScript, "exec", "5", "echo hello; exit 7"}, "", 7, "hello"},
		"a command that hangs":       {[]string{"-c", runScript, "exec", "1", "sleep 30"}, "", 124, ""},
		"a command by a slow sleep":  {[]string{"-c", "sleep() { case $1 in *.*) return 1; esac; command sleep $1; }; " + runScript, "exec", "5", "exit 3"}, "", 3, ""},
		"a command that forks":       {[]string{"-c", runScript, "exec", "5", "(sleep 0.2; echo late) & wait; exit 4"}, "", 4, "late"},
		"a folder":                   {files("5", folder), "TMPDIR=" + tmp, 0, ""},
		"a folder that is not there": {files("5", folder+"/none"), "TMPDIR=" + tmp, 41, "none"},
		"no place to write":          {files("5", folder), "TMPDIR=" + tmp + "/none", 0, ""},
		"a disk that is full":        {files("5", "/dev"), "TMPDIR=/dev/full-is-no-folder", 0, ""},
		"a folder with a dash":       {files("5", "-l"), "TMPDIR=" + tmp, 41, "-l"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", test.args...)
		cmd.Env = append(os.Environ(), test.env)
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != test.exit || !strings.Contains(string(out), test.out) {
			t.Errorf("%s: exit %d, %q; want %d, %q", name, got, out, test.exit, test.out)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("the scripts left %v, %v; want nothing", left, err)
	}
}

// From a claim to its Pod each step compares uids: a status or an annotation names
// anything.
func TestTarget(t *testing.T) {
	claim := func(sandbox string) string {
		return `200 {"metadata":{"name":"c1","namespace":"default","uid":"c"},
			"status":{"sandbox":{"name":"` + sandbox + `"},"conditions":[{"type":"Ready","status":"True"}]}}`
	}
	box := func(by, pod, ready string) string {
		return `200 {"metadata":{"name":"pool-x","namespace":"default","uid":"s","annotations":{"agents.x-k8s.io/pod-name":"` + pod + `"},
			"ownerReferences":[{"kind":"SandboxClaim","uid":"` + by + `","controller":true}]},
			"status":{"conditions":[{"type":"Ready","status":"` + ready + `"}]}}`
	}
	under := func(by string) string {
		return strings.Replace(onePod("1", `,"ownerReferences":[{"kind":"Sandbox","uid":"`+by+`","controller":true}]`), `"u1"`, `"p"`, 1)
	}
	for name, test := range map[string]struct {
		claim, box, pod string
		rests           bool
		fails           bool
	}{
		"all is as it should be":           {claim("pool-x"), box("c", "p1", "True"), under("s"), false, false},
		"the claim has no sandbox":         {claim(""), "", "", true, false},
		"the sandbox is another claim's":   {claim("pool-x"), box("d", "p1", "True"), under("s"), true, false},
		"the annotation names a stranger":  {claim("pool-x"), box("c", "p1", "True"), under("t"), true, false},
		"the annotation names a lone Pod":  {claim("pool-x"), box("c", "p1", "True"), onePod("1", ""), true, false},
		"the sandbox is not ready":         {claim("pool-x"), box("c", "p1", "False"), under("s"), true, false},
		"the Pod is not running":           {claim("pool-x"), box("c", "p1", "True"), strings.Replace(under("s"), "Running", "Succeeded", 1), true, false},
		"the claim is another by now":      {strings.Replace(claim("pool-x"), `"uid":"c"`, `"uid":"d"`, 1), "", "", false, true},
		"the sandbox cannot be read":       {claim("pool-x"), refusal("500", "InternalError", "no"), "", false, true},
		"the Pod is gone, and may be anew": {claim("pool-x"), box("c", "p1", "True"), refusal("404", "NotFound", "no p1"), false, true},
	} {
		c := scripted(t, entry.Entry{Extra: map[string]string{"objects": "sandboxes"}},
			map[string][]string{"GET " + claimPath: {test.claim}, "GET " + boxPath: {test.box}, "GET " + podPath: {test.pod}})
		got, err := c.target(t.Context(), "claim_default_c1_c")
		var rests *restingError
		if errors.As(err, &rests) != test.rests || (err != nil) != (test.rests || test.fails) ||
			err == nil && (got.pod.name != "p1" || got.pod.uid != "p" || got.container != "main") {
			t.Errorf("%s: target = %+v, %v; want it at rest %t, failed %t", name, got, err, test.rests, test.fails)
		}
		policy := reconcile.ProbePolicy{Exec: "true"}
		s := reconcile.Sandbox{Ref: reconcile.Ref{ID: "claim_default_c1_c"}, State: reconcile.SandboxRunning}
		if err != nil {
			if got := c.Probe(t.Context(), s, policy); got.Outcome.Failed() || c.count("POST") != 0 {
				t.Errorf("%s: Probe = %+v, want nothing against it and no exec", name, got)
			}
		}
	}
}
