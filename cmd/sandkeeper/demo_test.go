package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestDemoTellsTheWholeStory: in a hurry, everything that the script breaks is found,
// repaired and confirmed, nothing healthy is harmed, and nothing is left behind.
func TestDemoTellsTheWholeStory(t *testing.T) {
	t.Parallel()
	folder := shortFolder(t)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"demo", "--once", "--hurry", "--folder", folder}, stdio{out: &out, err: &errs})
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	for _, incident := range incidents {
		row := regexp.MustCompile(regexp.QuoteMeta(string(incident)) + ` +(\d+) +(\d+) +(\d+) +(\d+)`).
			FindStringSubmatch(out.String())
		if row == nil || row[1] == "0" || row[1] != row[2] || row[2] != row[3] || row[3] != row[4] {
			t.Errorf("summary of %q = %v, want the same number above 0 four times", incident, row)
		}
	}
	for _, want := range []string{
		"healthy work harmed: 0", "is inactive", "frozen    listing:daytona", "trusted   listing:daytona",
		"frozen    events", "idle-broken", "removed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story does not say %q", want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours without a terminal")
	}
	if t.Failed() {
		t.Log(out.String())
	}
	empty(t, folder)
}

// TestDemoInterrupted: Ctrl-C at any moment ends with exit code 0 and leaves no process
// and no file.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"at once": "starting", "while it starts": "", "in the story": "a pass every few seconds",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &arena{T: t, config: "unused.yaml"}
			folder := shortFolder(t)
			c := a.prepare("demo", "--folder", folder)
			heard := &heardText{}
			c.cmd.Stdout = heard
			c.start(t)
			if said == "" {
				a.reaches("a database that is being made", func() bool {
					found, _ := filepath.Glob(filepath.Join(folder, "*", "*", "data"))
					return len(found) > 0
				})
			}
			a.reaches("the words "+said, func() bool { return strings.Contains(heard.String(), said) })
			if err := c.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.done:
			case <-time.After(30 * time.Second):
				t.Fatal("it goes on after Ctrl-C")
			}
			if code := c.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d: %s%s", code, heard.String(), c.errs.String())
			}
			empty(t, folder)
		})
	}
}

// TestAuditSeesHarm: the demo's own audit is no decoration.
func TestAuditSeesHarm(t *testing.T) {
	t.Parallel()
	stage, err := setStage(t.Context(), &demoFlags{folder: shortFolder(t), hurry: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stage.clear(); err != nil {
			t.Error(err)
		}
	}()
	d, err := openDemo(t.Context(), stage, &demoFlags{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.world.close()
	d.tell = newTeller(stdio{out: io.Discard, err: io.Discard})
	harms := map[string]func() error{
		"of another team": func() error { return d.platform.cloud.remove(t.Context(), d.truth.foreign[0]) },
		"of healthy task": func() error { return d.platform.cloud.remove(t.Context(), d.platform.jobs[0].sandbox) },
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
	r, err := d.pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.truth.learn(t.Context(), r, d.platform.healthy()); err != nil {
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
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // where there is no /proc there is nothing to see
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && bytes.Contains(line, []byte(folder+"/")) {
			t.Errorf("process %s is left: %q", name, line)
		}
	}
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
