package docker

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	raw     = "application/vnd.docker.raw-stream"
	created = `{"Id":"` + id2 + `"}`
)

var sandbox = reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: id1}, Raw: "running", State: reconcile.SandboxRunning}

// framed is text as one frame of a stream.
func framed(stream byte, text string) string {
	head := binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(text)))
	return string(head) + text
}

func ran(out, errs string) reply { return reply{200, raw, framed(1, out) + framed(2, errs)} }

const (
	stopped = `{"message":"Container x is not running"}`
	fork    = "sh: can't fork: Resource temporarily unavailable\n"
	oci     = "OCI runtime exec failed: exec failed: "
	well    = "began\nforked\nexit 0\n"
	kept    = "began\nlisted 7\nkept\n"
)

// ended is what an engine says of an exec that ended.
func ended(code string) reply {
	return reply{200, js, `{"ID":"x","Running":false,"ExitCode":` + code + `}`}
}

// The facts of an exec's answers, one by one.
func TestExecVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			create, start, inspect reply
			want                   reconcile.ProbeOutcome
			detail                 string
		}{
			"it runs":                    {start: ran(well, ""), want: reconcile.Answered, detail: "exec: exit 0"},
			"a command that fails ran":   {start: ran("began\nforked\nexit 3\n", ""), want: reconcile.Answered, detail: "exit 3"},
			"a command that is not here": {start: ran("began\nforked\nexit 127\n", ""), want: reconcile.Answered, detail: "exit 127"},
			"a command that was killed at once": {
				start: ran("began\nforked\nexit 137\n", ""), want: reconcile.Answered, detail: "exit 137",
			},
			"no shell, docker": {
				start: ran(oci+`exec: "/bin/sh": stat /bin/sh: no such file or directory: unknown`, ""), inspect: ended("126"),
				want: reconcile.CannotStart, detail: "exit 126: OCI runtime exec failed",
			},
			"no shell, podman": {
				start: ran("", "Error: runc: exec failed: attempted to invoke a command that was not found\n"), inspect: ended("127"),
				want: reconcile.CannotStart, detail: "exit 127: Error: runc",
			},
			"frozen": {
				start:   ran(oci+"cannot exec in a paused container (use --ignore-paused to override): unknown", ""),
				inspect: ended("126"), want: reconcile.CannotStart, detail: "paused container",
			},
			"no process can be made": {
				start: ran("began\n", fork), inspect: ended("2"), want: reconcile.CannotStart, detail: "exit 2: sh: can't fork",
			},
			"killed half-way": {
				start: ran("began\nforked\n", ""), inspect: ended("137"), want: reconcile.CannotStart,
				detail: "exit 137: the shell was ended half-way",
			},
			"the engine's own parts": {
				start: ran("dial unix /run/containerd/containerd.sock: connect: connection refused", ""), inspect: ended("126"),
				want: reconcile.Infrastructure, detail: "containerd.sock",
			},
			"the host's limits": {
				start: ran(oci+"open /proc/self/exe: too many open files", ""), inspect: ended("126"),
				want: reconcile.Infrastructure, detail: "too many open files",
			},
			"said nothing, ended well": {start: ran("", ""), inspect: ended("0"), want: reconcile.Infrastructure, detail: "said nothing"},
			"said nothing, no code":    {start: ran("", ""), inspect: ended("null"), want: reconcile.Infrastructure, detail: "said nothing"},
			"its output was cut off": {
				start: ran("began\n", ""), inspect: reply{200, js, `{"Running":true,"ExitCode":null}`},
				want: reconcile.Infrastructure, detail: "its output ended before it did",
			},
			"half a frame": {
				start: reply{200, raw, framed(1, well)[:12]}, want: reconcile.Infrastructure, detail: "cut off",
			},
			"no frames": {start: reply{200, raw, "began, they said"}, want: reconcile.Infrastructure, detail: "no output of a process"},
			"a frame without an end": {
				start: reply{200, raw, "\x01\x00\x00\x00\xff\xff\xff\xff"}, want: reconcile.Infrastructure, detail: "cut off",
			},
			"nobody knows how it ended": {
				start: ran("began\n", fork), inspect: reply{500, js, `{"message":"no"}`}, want: reconcile.Infrastructure, detail: "500",
			},
			"too much output": {
				start: ran(strings.Repeat("x", maxOutput), ""), want: reconcile.Infrastructure, detail: "larger",
			},
			"ended since the look":  {create: reply{409, js, stopped}, want: reconcile.NotAllowed, detail: "is not running"},
			"paused since the look": {create: reply{409, js, `{"message":"Container x is paused, unpause the container before exec"}`}, want: reconcile.NotAllowed, detail: "paused"},
			"ended, podman": {
				create: reply{500, js, `{"cause":"container state improper","message":"can only create exec sessions on running ` +
					`containers: container state improper","response":500}`}, want: reconcile.NotAllowed, detail: "improper",
			},
			"gone since the look":     {create: reply{404, js, `{"message":"No such container: x"}`}, want: reconcile.Infrastructure, detail: "No such"},
			"the engine is ill":       {create: reply{500, js, `{"message":"boom"}`}, want: reconcile.Infrastructure, detail: "boom"},
			"no execution":            {create: reply{201, js, `{}`}, want: reconcile.Infrastructure, detail: "names no execution"},
			"ended before it started": {start: reply{409, js, stopped}, want: reconcile.NotAllowed, detail: "is not running"},
			"a start that is refused": {start: reply{403, "text/html", "no"}, want: reconcile.Infrastructure, detail: "403"},
			"a gateway's error":       {start: reply{502, "text/html", "no"}, want: reconcile.Infrastructure, detail: "502"},
			"a page":                  {start: reply{200, "text/html", "<html>"}, want: reconcile.Infrastructure, detail: "no output of a command"},
		} {
			if test.create.status == 0 {
				test.create = reply{201, js, created}
			}
			p := engineOf(t, map[string]reply{"POST " + id1 + "/exec": test.create, "POST " + id2 + "/start": test.start,
				"GET " + id2 + "/json": test.inspect})
			got := p.Probe(t.Context(), sandbox, reconcile.ProbePolicy{Exec: "true", Timeout: time.Second})
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: Probe = %s, %q; want %s, %q", name, got.Outcome, got.Detail, test.want, test.detail)
			}
		}
	})
}

// What a folder that cannot be written means depends on how the container was made.
func TestFilesVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			full     = "sh: write error: No space left on device\n"
			locked   = "sh: line 9: can't create .x: Read-only file system\n"
			running  = `{"Id":"` + id1 + `","State":{"Status":"running"},"HostConfig":`
			readOnly = running + `{"ReadonlyRootfs":true}}`
			tmpfs    = running + `{"Tmpfs":{"/workspace":"size=1m"}}}`
			plain    = running + `{}}`
		)
		for name, test := range map[string]struct {
			out, errs, code, made string
			want                  reconcile.ProbeOutcome
			detail                string
		}{
			"well": {out: kept, want: reconcile.Answered, detail: "files of /workspace: 7 entries, one written and read"},
			"not there": {
				out: "began\n", errs: "sh: cd: can't cd to /workspace: No such file or directory\n", code: "1",
				want: reconcile.CannotStart, detail: "No such file",
			},
			"not to be entered": {
				out: "began\n", errs: "sh: cd: can't cd to /workspace: Permission denied\n", code: "1",
				want: reconcile.Infrastructure, detail: "Permission denied",
			},
			"a mount that is gone": {
				out: "began\nlisted 0\n", errs: "sh: can't create .x: nonexistent directory\n", code: "0",
				want: reconcile.CannotStart, detail: "nonexistent directory",
			},
			"a disk that fails": {
				out: "began\nlisted 0\n", errs: "sh: can't create .x: Input/output error\n", code: "0",
				want: reconcile.CannotStart, detail: "Input/output error",
			},
			"what was written is not there": {
				out: "began\nlisted 0\n", errs: "sh: can't open .x: no such file\n", code: "0", want: reconcile.CannotStart, detail: "no such file",
			},
			"not for its user": {
				out: "began\nlisted 3\n", errs: "sh: can't create .x: Permission denied\n", code: "0", want: reconcile.Answered,
				detail: "3 entries, not written",
			},
			"without rm": {out: "began\nlisted 3\n", code: "0", want: reconcile.Answered, detail: "3 entries, not written"},
			"made read-only": {
				out: "began\nlisted 3\n", errs: locked, code: "0", made: readOnly, want: reconcile.Answered, detail: "made read-only",
			},
			"became read-only": {
				out: "began\nlisted 3\n", errs: locked, code: "0", made: plain, want: reconcile.CannotStart, detail: "Read-only",
			},
			"its own disk is full": {
				out: "began\nlisted 3\n", errs: full, code: "0", made: tmpfs, want: reconcile.CannotStart, detail: "No space left",
			},
			"everybody's disk is full": {
				out: "began\nlisted 3\n", errs: full, code: "0", made: plain, want: reconcile.Infrastructure, detail: "not the sandbox's alone",
			},
			"a full disk of who knows": {
				out: "began\nlisted 3\n", errs: full, code: "0", made: `{}`, want: reconcile.Infrastructure, detail: "why is not known",
			},
			"killed half-way": {out: "began\nlisted 3\n", code: "137", want: reconcile.CannotStart, detail: "exit 137"},
		} {
			if test.made == "" {
				test.made = plain
			}
			p := engineOf(t, map[string]reply{"POST " + id1 + "/exec": {201, js, created}, "POST " + id2 + "/start": ran(test.out, test.errs),
				"GET " + id2 + "/json": ended(test.code), "GET " + id1 + "/json": {200, js, test.made}})
			got := p.Probe(t.Context(), sandbox, reconcile.ProbePolicy{Path: "/workspace", Timeout: time.Second})
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: Probe = %s, %q; want %s, %q", name, got.Outcome, got.Detail, test.want, test.detail)
			}
		}
	})
}

// hanging is an engine whose execs never come back; running says what it says of them.
func hanging(t *testing.T, stats [2]string, running func() string) (*Provider, *atomic.Int32) {
	t.Helper()
	var execs, samples atomic.Int32
	return before(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/exec"):
			execs.Add(1)
			reply{201, js, created}.send(w)
		case strings.HasSuffix(r.URL.Path, "/start"):
			<-r.Context().Done()
		case strings.HasSuffix(r.URL.Path, "/stats"):
			reply{200, js, stats[min(samples.Add(1), 2)-1]}.send(w)
		case strings.HasSuffix(r.URL.Path, id1+"/json") && execs.Load() > 0:
			reply{200, js, strings.Replace(inspected(`{"Status":"running"}`), "{", `{"ExecIDs":["`+id2+`"],`, 1)}.send(w)
		case strings.HasSuffix(r.URL.Path, id1+"/json"):
			reply{200, js, inspected(`{"Status":"running"}`)}.send(w)
		default:
			reply{200, js, running()}.send(w)
		}
	}), &execs
}

var quick = reconcile.ProbePolicy{Exec: "true", Timeout: time.Nanosecond} // a second, and the margin

// A probe that never came back is asked for again, and no second one is sent after it.
func TestHungProbeIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := fmt.Sprintf(`{"Running":true,"ProcessConfig":{"arguments":["-c","x","sandkeeper-exec","1","true","%d"]}}`,
			time.Now().Unix()) // as of a probe that is under way, which is ours and is none
		p, execs := hanging(t, [2]string{`{}`, `{}`}, func() string { return answer })
		for n := range 3 {
			if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != reconcile.Hung || execs.Load() != 1 {
				t.Errorf("probe %d = %+v after %d executions, want hung after 1", n, got, execs.Load())
			}
		}
		answer = `{"Running":false,"ExitCode":0}`
		if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != reconcile.Hung || execs.Load() != 2 {
			t.Errorf("probe after it came back = %+v after %d executions, want another one", got, execs.Load())
		}
	})
}

// A process that probes once leaves behind what never comes back. The next one finds it, and sends
// no second one after it. Who probes at the same moment does not speak against the container.
func TestAnotherProcessLeftOne(t *testing.T) {
	left := func(running bool, name string, ago time.Duration) func() reply {
		return func() reply {
			return reply{200, js, fmt.Sprintf(`{"ID":"`+id2+`","Running":%t,"ProcessConfig":{"entrypoint":"/bin/sh",`+
				`"arguments":["-c","script","%s","1","true","%d"]}}`, running, name, time.Now().Add(-ago).Unix())}
		}
	}
	says := func(status int, body string) func() reply { return func() reply { return reply{status, js, body} } }
	listing := reply{200, js, strings.Replace(inspected(`{"Status":"running"}`), "{", `{"ExecIDs":["`+id2+`"],`, 1)}
	for name, test := range map[string]struct {
		look reply
		exec func() reply
		want reconcile.ProbeOutcome // "": a command is sent
	}{
		"none":                  {reply{200, js, inspected(`{"Status":"running"}`)}, nil, ""},
		"long ago":              {listing, left(true, "sandkeeper-exec", time.Hour), reconcile.Hung},
		"of the files":          {listing, left(true, "sandkeeper-files", time.Hour), reconcile.Hung},
		"longer than it may":    {listing, left(true, "sandkeeper-exec", 15*time.Second), reconcile.Hung},
		"just now":              {listing, left(true, "sandkeeper-exec", 10*time.Second), reconcile.Infrastructure},
		"by a clock ahead":      {listing, left(true, "sandkeeper-exec", -time.Hour), reconcile.Infrastructure},
		"it has ended":          {listing, left(false, "sandkeeper-exec", time.Hour), ""},
		"somebody else's":       {listing, left(true, "agent", time.Hour), ""},
		"without a time":        {listing, says(200, `{"Running":true,"ProcessConfig":{"arguments":["-c","x","sandkeeper-exec","y"]}}`), ""},
		"too few words":         {listing, says(200, `{"Running":true,"ProcessConfig":{"arguments":["sandkeeper-exec"]}}`), ""},
		"no words":              {listing, says(200, `{"Running":true}`), ""},
		"it is gone":            {listing, says(404, `{"message":"No such exec instance: x"}`), ""},
		"the engine looks away": {reply{500, js, `{"message":"no"}`}, nil, ""},
		"ended since":           {reply{200, js, strings.Replace(listing.body, "running", "exited", 1)}, left(true, "sandkeeper-exec", time.Hour), reconcile.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := false
				p := before(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case strings.HasSuffix(r.URL.Path, id1+"/exec"):
						sent = true
						reply{201, js, `{"Id":"` + strings.Repeat("c", 64) + `"}`}.send(w)
					case strings.HasSuffix(r.URL.Path, "/start"):
						ran(well, "").send(w)
					case strings.HasSuffix(r.URL.Path, "/stats"):
						reply{200, js, `{"read":"2026-01-01T00:00:01Z"}`}.send(w)
					case strings.HasSuffix(r.URL.Path, id1+"/json"):
						test.look.send(w)
					default:
						test.exec().send(w)
					}
				})
				got := p.Probe(t.Context(), sandbox, reconcile.ProbePolicy{Exec: "true", Timeout: time.Second})
				if got.Outcome != cmp.Or(test.want, reconcile.Answered) || sent != (test.want == "") {
					t.Errorf("Probe = %+v, sent %t; want %q", got, sent, test.want)
				}
			})
		})
	}
}

// What is held back all the time by its own limit may be well.
func TestStarvedIsNotHung(t *testing.T) {
	sample := func(held, periods string) string {
		return `{"read":"2026-01-01T00:00:01Z",
			"cpu_stats":{"throttling_data":{"periods":` + periods + `,"throttled_periods":` + held + `}}}`
	}
	before := sample("10", "10")
	for name, test := range map[string]struct {
		stats [2]string
		want  reconcile.ProbeOutcome
	}{
		"held back all the time":        {[2]string{before, sample("20", "20")}, reconcile.Infrastructure},
		"held back half of the time":    {[2]string{before, sample("15", "20")}, reconcile.Infrastructure},
		"held back less":                {[2]string{before, sample("14", "20")}, reconcile.Hung},
		"no limit":                      {[2]string{before, before}, reconcile.Hung},
		"a count that began anew":       {[2]string{before, sample("0", "1")}, reconcile.Hung},
		"one sample":                    {[2]string{before, `{}`}, reconcile.Hung},
		"no measurement":                {[2]string{`{}`, `{}`}, reconcile.Hung},
		"an answer that is none at all": {[2]string{`<html>`, ""}, reconcile.Hung},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, _ := hanging(t, test.stats, func() string { return `{"Running":true}` })
				if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != test.want {
					t.Errorf("Probe = %+v, want %s", got, test.want)
				}
			})
		})
	}
}

// A command that its time-out ended did hang.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := before(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/exec") {
				reply{201, js, created}.send(w)
				return
			}
			if strings.HasSuffix(r.URL.Path, "/stats") {
				reply{403, js, `{}`}.send(w)
				return
			}
			if strings.HasSuffix(r.URL.Path, id1+"/json") {
				reply{200, js, inspected(`{"Status":"running"}`)}.send(w)
				return
			}
			time.Sleep(1100 * time.Millisecond) // longer than the second that the command has
			ran("began\nforked\nexit 137\n", "").send(w)
		})
		if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != reconcile.Hung || !strings.Contains(got.Detail, "did not end") {
			t.Errorf("Probe = %+v, want hung", got)
		}
	})
}

// script runs one of the probes' scripts in a shell of this machine.
func script(t *testing.T, text string, env []string, args ...string) (lines []string, errs string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", text, "sandkeeper"}, args...)...)
	c.Env = append([]string{"LC_ALL=C"}, env...)
	var out, words strings.Builder
	c.Stdout, c.Stderr = &out, &words
	_ = c.Run() // how it ends is in its words
	return strings.Split(strings.TrimSpace(out.String()), "\n"), words.String()
}

// The scripts in a real shell: what they say, and that they leave nothing behind.
func TestScripts(t *testing.T) {
	path := []string{"PATH=" + os.Getenv("PATH")}
	for command, want := range map[string]string{
		"true": "exit 0", "exit 3": "exit 3", "/no/such/program": "exit 127", "echo began; echo >&2 x": "exit 0", "sleep 300": "exit 137",
	} {
		seconds := "60"
		if command == "sleep 300" {
			seconds = "1"
		}
		lines, errs := script(t, execScript, path, seconds, command)
		if strings.Join(lines, " ") != "began forked "+want || errs != "" && command != "sleep 300" {
			t.Errorf("exec %q says %q, %q; want %s", command, lines, errs, want)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a b"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		env  []string
		path string
		want string
	}{
		"a folder": {path, folder, "began listed 1 kept"}, "an empty one": {path, t.TempDir(), "began listed 0 kept"},
		"none": {path, folder + "/none", "began"}, "without rm": {[]string{"PATH=/nowhere"}, folder, "began listed 1"},
	} {
		if lines, errs := script(t, filesScript, test.env, test.path, "nonce"); strings.Join(lines, " ") != test.want {
			t.Errorf("files of %s say %q, %q; want %s", name, lines, errs, test.want)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v; want what it held before", left, err)
	}
	if err := os.Symlink("a b", filepath.Join(folder, ".sandkeeper-probe-known")); err != nil {
		t.Fatal(err)
	}
	if lines, _ := script(t, filesScript, path, folder, "known"); len(lines) != 2 {
		t.Errorf("files with a name that is taken say %q, want nothing written", lines)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "a b")); err != nil || len(text) != 0 {
		t.Errorf("the file behind a link holds %q, %v; want it untouched", text, err)
	}
}

// Somebody pauses or ends a container in the middle of a probe: what failed there speaks
// against nothing. One that cannot be looked at again may have been.
func TestChangedMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		look reply
		want reconcile.ProbeOutcome // "": what the probe itself met
	}{
		"it runs":           {reply{200, js, inspected(`{"Status":"running"}`)}, ""},
		"paused":            {reply{200, js, inspected(`{"Status":"paused"}`)}, reconcile.NotAllowed},
		"ended":             {reply{200, js, inspected(`{"Status":"exited"}`)}, reconcile.NotAllowed},
		"starts again":      {reply{200, js, inspected(`{"Status":"restarting"}`)}, reconcile.NotAllowed},
		"gone":              {reply{404, js, `{"message":"No such container: x"}`}, reconcile.Infrastructure},
		"nobody knows":      {reply{500, js, `{"message":"no"}`}, reconcile.Infrastructure},
		"in no known state": {reply{200, js, inspected(`{}`)}, reconcile.NotAllowed},
	} {
		for outcome, start := range map[reconcile.ProbeOutcome]func(http.ResponseWriter, *http.Request){
			reconcile.Hung:        func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			reconcile.CannotStart: func(w http.ResponseWriter, _ *http.Request) { ran("began\nforked\n", "").send(w) },
		} {
			t.Run(name+" "+string(outcome), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := before(t, func(w http.ResponseWriter, r *http.Request) {
						switch {
						case strings.HasSuffix(r.URL.Path, "/exec"):
							reply{201, js, created}.send(w)
						case strings.HasSuffix(r.URL.Path, "/start"):
							start(w, r)
						case strings.HasSuffix(r.URL.Path, id2+"/json"):
							ended("137").send(w)
						case strings.HasSuffix(r.URL.Path, id1+"/json"):
							test.look.send(w)
						default:
							reply{403, js, `{}`}.send(w)
						}
					})
					got := p.Probe(t.Context(), sandbox, quick)
					if got.Outcome != cmp.Or(test.want, outcome) {
						t.Errorf("Probe = %s, %s; want %s", got.Outcome, got.Detail, cmp.Or(test.want, outcome))
					}
				})
			})
		}
	}
}

// Once a command hangs in a container, the engine does not even take another one for it. That
// speaks against the container while the engine lists it as running, and only then.
func TestExecIsNotTaken(t *testing.T) {
	for name, test := range map[string]struct {
		list reply
		want reconcile.ProbeOutcome
	}{
		"listed as running": {reply{200, js, `[{"Id":"` + id1 + `","State":"running"}]`}, reconcile.Hung},
		"listed as ended":   {reply{200, js, `[{"Id":"` + id1 + `","State":"exited"}]`}, reconcile.NotAllowed},
		"not listed":        {reply{200, js, `[]`}, reconcile.Infrastructure},
		"nothing is listed": {reply{500, js, `{"message":"no"}`}, reconcile.Infrastructure},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := before(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/exec"), strings.HasSuffix(r.URL.Path, id1+"/json"):
						<-r.Context().Done()
					case strings.HasSuffix(r.URL.Path, "/containers/json"):
						test.list.send(w)
					default:
						reply{500, js, `{"message":"no stats"}`}.send(w)
					}
				})
				p.timeout = 100 * time.Millisecond
				if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != test.want {
					t.Errorf("Probe = %+v, want %s", got, test.want)
				}
			})
		})
	}
}

// Where the engine gives no sample, the limit that the container was made with tells whether
// it can answer in time. That there is no sample proves nothing: one shim that stands still
// may keep an engine from giving any.
func TestNoSample(t *testing.T) {
	for name, test := range map[string]struct {
		host string
		want reconcile.ProbeOutcome
	}{
		"no limit":             {`{}`, reconcile.Answered},
		"enough":               {`{"NanoCpus":100000000}`, reconcile.Answered},
		"less":                 {`{"NanoCpus":99000000}`, reconcile.Infrastructure},
		"a quota":              {`{"CpuQuota":1000,"CpuPeriod":1000000}`, reconcile.Infrastructure},
		"nothing known of one": {`null`, reconcile.Answered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := before(t, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/stats"):
						<-r.Context().Done()
					case strings.HasSuffix(r.URL.Path, id1+"/json"):
						reply{200, js, `{"Id":"` + id1 + `","HostConfig":` + test.host + `}`}.send(w)
					case test.want == reconcile.Infrastructure:
						t.Errorf("unexpected call %s %s", r.Method, r.URL)
					case strings.HasSuffix(r.URL.Path, "/exec"):
						reply{201, js, created}.send(w)
					default:
						ran(well, "").send(w)
					}
				})
				p.timeout = 100 * time.Millisecond
				if got := p.Probe(t.Context(), sandbox, quick); got.Outcome != test.want {
					t.Errorf("Probe = %+v, want %s", got, test.want)
				}
			})
		})
	}
}
