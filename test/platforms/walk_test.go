package platforms

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A walk is the way of an operator with nothing: init, the lines that the platform's page in deploy/examples says to
// change, check, plan, one rule armed, repaired.
type walk struct {
	*world
	init  []string          // its arguments
	lines map[string]string // keys of the provider's entry, and what is written in place of the proposal
	row   string            // the status of a task that was never begun
	fixed string            // its status once it is marked failed
}

// TestWalkOmoiOS: from init to an armed rule on OmoiOS's tables.
func TestWalkOmoiOS(t *testing.T) {
	t.Parallel()
	w := omoios(t).world(t)
	company(w)
	j := omoiTask(w, "claiming", row{"updated_at": 20 * time.Minute, "sandbox_id": nil})
	(&walk{w, []string{"--provider", "daytona", "--installation", "omoios-prod"},
		map[string]string{"owns": "{labels: {project: omoios}, exclusive: true}", "link": "{task_label: task_id}"},
		"claiming", "failed"}).walks(j.task)
}

// TestWalkCodingAgent: the same on the coding-agent template's.
func TestWalkCodingAgent(t *testing.T) {
	t.Parallel()
	w := coding(t, "coding-agent").world(t)
	codingCompany(w)
	task := codingTask(w, "processing", row{"created_at": 31 * time.Minute, "updated_at": 30 * time.Minute})
	(&walk{w, []string{"--provider", "vercel", "--installation", "coding-agent-prod"},
		map[string]string{"owns": "{referenced: true}", "link": "{sandbox: id}"}, "processing", "error"}).walks(task)
}

// walks goes all the way, with a task that was handed out and never begun.
func (w *walk) walks(stale task) {
	w.Helper()
	w.proposed()
	w.noFailures()
	if _, out, errs := w.run("plan"); !strings.Contains(out, stale.id) || !strings.Contains(out, "assigned-stale") {
		w.Errorf("plan does not show task %s of assigned-stale:\n%s%s", stale.id, out, errs)
	}
	w.passes()
	w.is(stale, w.row, "in observe")
	w.edit("mode: observe", "rules: {assigned-stale: enforce}\n"+
		"limits: {per_pass: 1000, share: 100%, breaker: 100%, per_hour: 100000}\nmode: observe")
	w.passes()
	w.is(stale, w.row, "in enforce and unproven")
	if code, out, errs := w.run("arm", "assigned-stale", "--unproven", "--reason", "looked at it"); code != 0 {
		w.Fatalf("arm: exit code %d\n%s%s", code, out, errs)
	}
	w.passes()
	w.is(stale, w.fixed, "once it is armed")
}

// proposed lets init write the config, and changes what the platform's page says to change.
func (w *walk) proposed() {
	w.Helper()
	args := append([]string{"init", "--provider-url", w.url, "--output", w.path}, w.init...)
	if code, out, errs := w.run(args...); code != 0 {
		w.Fatalf("init: exit code %d\n%s%s", code, out, errs)
	}
	for key, value := range w.lines {
		line := regexp.MustCompile(`(?m)^    ` + key + `: .*$`).FindString(w.read())
		if line == "" {
			w.Fatalf("init proposes no %s:\n%s", key, w.read())
		}
		w.edit(line, "    "+key+": "+value)
	}
}

// noFailures asks check of the tables and the provider.
func (w *walk) noFailures() {
	w.Helper()
	_, out, errs := w.run("check")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "FAIL") && !strings.Contains(line, "web") { // another test may have the port
			w.Errorf("check: %s%s", line, errs)
		}
	}
	if !strings.Contains(out, "ok ") {
		w.Errorf("check says of nothing that it is ok:\n%s%s", out, errs)
	}
}

// passes are as many as a second sighting needs.
func (w *walk) passes() {
	w.Helper()
	for range 2 {
		for _, do := range w.lives {
			do()
		}
		w.look("once", "--wait", "3s")
		w.later(61 * time.Second)
	}
}

func (w *walk) is(t task, want, when string) {
	w.Helper()
	if got := w.text("SELECT status FROM "+t.table+" WHERE id = $1", t.id); got != want {
		_, out, _ := w.run("explain", t.id)
		w.Fatalf("%s the task is %s, want %s:\n%s", when, got, want, out)
	}
}

func (w *walk) read() string {
	w.Helper()
	text, err := os.ReadFile(w.path)
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

func (w *walk) edit(old, text string) {
	w.Helper()
	if err := os.WriteFile(w.path, []byte(strings.Replace(w.read(), old, text, 1)), 0o600); err != nil {
		w.Fatal(err)
	}
}
