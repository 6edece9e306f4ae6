package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/test/raced"
)

// TestDemoTellsTheWholeStory: in a hurry, everything that the script breaks is found,
// repaired and confirmed, nothing healthy is harmed, and nothing is left behind, not even the
// folders that it had to make.
func TestDemoTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	if raced.On {
		t.Skip("a minute and a half: make test-whole; TestReplicaEndsWithTheDemo and TestAuditSeesHarm run its parts")
	}
	above := shortFolder(t)
	folder := filepath.Join(above, "made", "by it")
	p := playDemo(t, "--once", "--hurry", "--folder", folder)
	<-p.done
	code, out := p.cmd.ProcessState.ExitCode(), p.said.String()
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, incident := range incidents {
		row := regexp.MustCompile(regexp.QuoteMeta(string(incident)) + ` +(\d+) +(\d+) +(\d+) +(\d+)`).
			FindStringSubmatch(out)
		if row == nil || row[1] == "0" || row[1] != row[2] || row[2] != row[3] || row[3] != row[4] {
			t.Errorf("summary of %q = %v, want the same number above 0 four times", incident, row)
		}
	}
	story := strings.Join(strings.Fields(out), " ") // lines are wrapped
	for _, want := range []string{
		"open http://127.0.0.1:", "healthy work harmed: 0", "is inactive", "idle-broken", "removed",
		"held heartbeat-lost: 1, by hold: ", "held orphan: 40, by breaker: ", "released 40 subjects",
		"likely cause: ", "sandkeeper affected i-", "with -o sql", "sandkeeper restore ", "operator: 1 sandbox brought back",
		"killed (SIGKILL)", "passes went on", "frozen listing:vercel is not trusted: the listing failed: ",
		"page 1: 429 Too Many Requests",
		"page 1: 500 Internal Server Error", "trusted listing:vercel again",
		"frozen listing:daytona is not trusted: the listing lost", "trusted listing:daytona again", "frozen events",
	} {
		if !strings.Contains(story, want) {
			t.Errorf("the story does not say %q", want)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colours without a terminal")
	}
	if t.Failed() {
		t.Log(out)
	}
	empty(t, above)
}

// runAsEnv makes the test's own program the demo.
const runAsEnv = "SANDKEEPER_DEMO_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runAsEnv) != "" {
		main()
	}
	code := m.Run()
	if folder, err := sandkeeper(); err == nil {
		os.RemoveAll(filepath.Dir(folder))
	}
	os.Exit(code)
}

// sandkeeper is the program to drive, built once.
var sandkeeper = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sandkeeper")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sandkeeper")
	if said, err := exec.Command("go", "build", "-o", path, "../sandkeeper").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, said)
	}
	return path, nil
})

// built are settings of a demo that drives the program.
func built(t *testing.T, f settings) *settings {
	t.Helper()
	path, err := sandkeeper()
	if err != nil {
		t.Fatal(err)
	}
	f.program = path
	return &f
}

// A process is a demo in a process of its own.
type process struct {
	cmd  *exec.Cmd
	said heardText
	done chan struct{}
}

// playDemo starts a demo.
func playDemo(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{done: make(chan struct{})}
	p.cmd = exec.CommandContext(t.Context(), os.Args[0], append(args, "--program", built(t, settings{}).program)...)
	p.cmd.Env = append(os.Environ(), runAsEnv+"=1", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // judged by its exit code
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has usually ended
		<-p.done
		if t.Failed() {
			t.Logf("the demo said:\n%s", p.said.String())
		}
	})
	return p
}

// reaches waits until the condition holds. The bound is far above what a loaded machine needs: only a
// fault meets it.
func reaches(t *testing.T, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(5 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("never reached: %s", what)
		}
	}
}

// reaches waits until the condition holds, or the demo has ended without it.
func (p *process) reaches(t *testing.T, what string, is func() bool) {
	t.Helper()
	reaches(t, what, func() bool {
		select {
		case <-p.done:
			if !is() {
				t.Fatalf("the demo has ended before this was reached: %s", what)
			}
			return true
		default:
			return is()
		}
	})
}

// TestDemoInterrupted: Ctrl-C at any moment ends with exit code 0 and leaves no process
// and no file.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"at once": "starting", "while it starts": "", "in the story": "broken ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := shortFolder(t)
			c := playDemo(t, "--hurry", "--folder", folder)
			if said == "" {
				c.reaches(t, "a database that is being made", func() bool {
					found, _ := filepath.Glob(filepath.Join(folder, "*", "*", "data"))
					return len(found) > 0
				})
			}
			c.reaches(t, "the words "+said, func() bool { return strings.Contains(c.said.String(), said) })
			if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.done:
			case <-time.After(5 * time.Minute):
				t.Fatal("it goes on after Ctrl-C")
			}
			if code := c.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d: %s", code, c.said.String())
			}
			empty(t, folder)
		})
	}
}

// TestReplicaEndsWithTheDemo: the second replica works on the same ledger, shows its own
// page, and is gone when the demo is interrupted.
func TestReplicaEndsWithTheDemo(t *testing.T) {
	folder := shortFolder(t)
	stage, err := setStage(t.Context(), built(t, settings{folder: folder, hurry: true}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	d, err := openDemo(ctx, stage, &settings{})
	if err != nil {
		t.Fatal(err)
	}
	r, page, err := launchReplica(ctx, stage)
	if err != nil {
		t.Fatal(err)
	}
	if page == "" || strings.Contains(page, demoAddress) {
		t.Errorf("page of the replica is %q", page)
	}
	reaches(t, "a pass by the replica", func() bool {
		passes, err := d.ledger.LastPasses(ctx, 1)
		return err == nil && len(passes) > 0 && r.holds(passes[0].Holder)
	})
	interrupt()
	<-r.ended
	if err := stage.clear(); err != nil {
		t.Error(err)
	}
	empty(t, folder)
}

// TestAuditSeesHarm: the demo's own audit is no decoration.
func TestAuditSeesHarm(t *testing.T) {
	t.Parallel()
	stage, err := setStage(t.Context(), built(t, settings{folder: shortFolder(t), hurry: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stage.clear(); err != nil {
			t.Error(err)
		}
	}()
	d, err := openDemo(t.Context(), stage, &settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.look(t.Context()); err != nil || len(d.truth.harmed()) > 0 {
		t.Fatalf("before any harm: %v, %v", d.truth.harmed(), err)
	}
	remove := func(j *job) error { return d.platform.clouds[j.at].remove(t.Context(), j.sandbox) }
	harms := map[string]func() error{
		"of another team": func() error { return d.platform.clouds[atDaytona].remove(t.Context(), d.truth.foreign[0]) },
		"of healthy task": func() error { return remove(d.platform.jobs[0]) },
		"was wanted back": func() error {
			j := d.platform.jobs[2]
			d.truth.add(affected{incident: incidentRestored, task: j.task, sandbox: j.sandbox, status: "running", spared: true})
			return remove(j)
		},
		"and is failed": func() error {
			_, err := stage.pool.Exec(t.Context(),
				"UPDATE tasks SET status = 'failed', completed_at = now() WHERE id = $1", d.platform.jobs[1].task)
			return err
		},
	}
	for _, do := range harms {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(d.truth.harmed(), "\n")
	for want := range harms {
		if !strings.Contains(said, want) {
			t.Errorf("the audit does not see harm %q:\n%s", want, said)
		}
	}
	if d.verdict() == nil {
		t.Error("harm is no reason for an exit code")
	}
}

// shortFolder is a folder that the server's user can pass through, with a short path.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(shortTemp(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// empty demands that nothing is left in the folder, and no process that was started there.
func empty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	reaches(t, "no process is left: one that was killed is there for a moment more", func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // where there is no /proc there is nothing to see
		return !slices.ContainsFunc(lines, func(name string) bool {
			line, err := os.ReadFile(name)
			return err == nil && bytes.Contains(line, []byte(folder+"/"))
		})
	})
}

// heardText collects what a process prints.
type heardText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *heardText) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *heardText) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
