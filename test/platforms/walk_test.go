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
	lines map[string]string // keys, and what is written in place of the proposal
	rule  string
	with  string        // what the config says of it, but for its mode
	ill   string        // the task or sandbox that it is about
	state func() string // of that one
	was   string        // its state until the rule is armed
	fixed string        // and then
}

// TestWalkOmoiOS: from init to an armed rule on OmoiOS's tables.
func TestWalkOmoiOS(t *testing.T) {
	t.Parallel()
	w := omoios(t).world(t)
	company(w)
	j := omoiTask(w, "claiming", row{"updated_at": 20 * time.Minute, "sandbox_id": nil})
	(&walk{world: w, init: []string{"--provider", "daytona", "--installation", "omoios-prod"},
		lines: map[string]string{"owns": "{labels: {project: omoios}, exclusive: true}"},
		was:   "claiming", fixed: "failed"}).neverBegun(j.task)
}

// TestWalkCodingAgent: the same on the coding-agent template's.
func TestWalkCodingAgent(t *testing.T) {
	t.Parallel()
	w := coding(t, "coding-agent").world(t)
	codingCompany(w)
	task := codingTask(w, "processing", row{"created_at": 31 * time.Minute, "updated_at": 30 * time.Minute})
	(&walk{world: w, init: []string{"--provider", "vercel", "--installation", "coding-agent-prod"},
		was: "processing", fixed: "error"}).neverBegun(task)
}

// TestWalkMonoTask: the same on the table that the config of MonoTask names, with both halves of Cloudflare.
func TestWalkMonoTask(t *testing.T) {
	t.Parallel()
	w := ready(t, platform{name: "monotask", tables: mono, vendor: containers,
		config: example(t, "monotask-cloudflare/sandkeeper.yaml", "cloudflare")}).world(t)
	for range 2 {
		task, box := monoAtWork(w)
		w.always(func() { w.sql("UPDATE tasks SET updated_at = now() WHERE id = $1", task.id) })
		w.healthy("a task beside it", task, box)
	}
	for _, status := range []string{"completed", "failed", "cancelled"} { // init maps what there is
		monoTask(w, row{"status": status})
	}
	stale := monoTask(w, row{"status": "assigned"})
	(&walk{world: w, init: []string{"--provider", "cloudflare", "--installation", "monotask-prod"},
		lines: map[string]string{"owns": "{name_prefix: task-, exclusive: true}",
			"fail": `{status: failed, set: {error_message: "@reason", sandbox_id: "NULL", updated_at: "@now"}}`,
			"link": "{task_label: task_id, sandbox: name}\n    worker_url: ${SANDBOX_WORKER_URL}\n" +
				"    worker_token: ${SANDBOX_WORKER_TOKEN}"},
		was: "assigned", fixed: "failed"}).neverBegun(stale)
}

// TestWalkAgentuity: the same where no table has tasks, so a sandbox is judged by itself.
func TestWalkAgentuity(t *testing.T) {
	t.Parallel()
	w := ready(t, platform{name: "agentuity", tables: "CREATE TABLE settings (key text PRIMARY KEY, value text)",
		vendor: regions, config: example(t, "agentuity/sandkeeper.yaml", "agentuity")}).world(t)
	young, theirs := agentuityBox(w, "task-young", 10*time.Minute), agentuityBox(w, "nightly", 30*time.Hour)
	w.needed("a young one", young)
	w.needed("somebody else's", theirs)
	old := agentuityBox(w, "task-old", 30*time.Hour)
	(&walk{world: w, init: []string{"--provider", "agentuity", "--installation", "agentuity-prod"},
		lines: map[string]string{"owns": "{name_prefix: task-}"}, rule: "over-age", with: "after: 24h, remedy: quarantine",
		ill: old, was: "running", fixed: "suspended", state: func() string { return w.stateOf(old) }}).walks()
}

// neverBegun goes all the way with a task that was handed out and never begun.
func (w *walk) neverBegun(stale task) {
	w.Helper()
	w.rule, w.ill = "assigned-stale", stale.id
	w.state = func() string { return w.text("SELECT status FROM "+stale.table+" WHERE id = $1", stale.id) }
	w.walks()
}

// walks goes all the way.
func (w *walk) walks() {
	w.Helper()
	w.proposed()
	if w.with != "" { // the rule is off until somebody asks for it
		w.edit("mode: observe", "rules: {"+w.rule+": {"+w.with+"}}\nmode: observe")
	}
	w.noFailures()
	if _, out, errs := w.run("plan"); !strings.Contains(out, w.ill) || !strings.Contains(out, w.rule) {
		w.Errorf("plan does not show %s of %s:\n%s%s", w.ill, w.rule, out, errs)
	}
	w.passes()
	w.is(w.was, "in observe")
	w.enforce()
	w.passes()
	w.is(w.was, "in enforce and unproven")
	if code, out, errs := w.run("arm", w.rule, "--unproven", "--reason", "looked at it"); code != 0 {
		w.Fatalf("arm: exit code %d\n%s%s", code, out, errs)
	}
	w.passes()
	w.is(w.fixed, "once it is armed")
}

// enforce lets the rule act, within budgets that do not matter here.
func (w *walk) enforce() {
	w.Helper()
	if w.with == "" {
		w.edit("mode: observe", "rules: {"+w.rule+": enforce}\nmode: observe")
	} else {
		w.edit("{"+w.with+"}", "{"+w.with+", mode: enforce}")
	}
	w.edit("mode: observe", "limits: {per_pass: 1000, share: 100%, breaker: 100%, per_hour: 100000}\nmode: observe")
}

// proposed lets init write the config, and changes what the platform's page says to change.
func (w *walk) proposed() {
	w.Helper()
	args := append([]string{"init", "--provider-url", w.url, "--output", w.path}, w.init...)
	if code, out, errs := w.run(args...); code != 0 {
		w.Fatalf("init: exit code %d\n%s%s", code, out, errs)
	}
	for key, value := range w.lines {
		line := regexp.MustCompile(`(?m)^( +)` + key + `: .*$`).FindStringSubmatch(w.read())
		if line == nil {
			w.Fatalf("init proposes no %s:\n%s", key, w.read())
		}
		w.edit(line[0], line[1]+key+": "+value)
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
		w.facts.hold(w.world)
		w.reports = append(w.reports, w.look("once", "--wait", "20s"))
		w.facts.spared(w.world, len(w.reports))
		w.later(61 * time.Second)
	}
}

func (w *walk) is(want, when string) {
	w.Helper()
	if got := w.state(); got != want {
		_, out, _ := w.run("explain", w.ill)
		w.Fatalf("%s %s is %s, want %s:\n%s", when, w.ill, got, want, out)
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
