package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	program "os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A night is a world in which much is wrong: a snapshot is inactive, its tasks are an incident, and leaks are held by an
// open breaker. Somebody types what the runbooks say.
type night struct {
	*arena
	ws    []worker
	stale string // a task of the incident
	leak  string // one that the breaker holds
	typed map[string]bool
}

// TestRunbooksInALivingWorld: each command that stands in a runbook or in an alert is run by the real program against a
// living world, with the names of that world in it; each ends well and knows what it is asked of.
func TestRunbooksInALivingWorld(t *testing.T) {
	n := newNight(t)
	texts := map[string]string{"the alerts": typeable.Replace(alerts.Rules(alerts.Site{}))}
	for _, name := range alerts.Runbooks() {
		texts[name], _ = alerts.Runbook(name)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) { // in one order: what is done changes the world
		text := texts[name]
		for _, words := range told(text) {
			n.types(name, words)
		}
		for _, line := range shellLines(text) {
			n.runs(name, line)
		}
	}
	if len(n.typed) < 25 {
		t.Errorf("%d different commands were run: they are written in a way that this test does not see", len(n.typed))
	}
}

// typeable puts what a runbook calls it in the place of what Prometheus puts into an alert.
var typeable = strings.NewReplacer("{{ $labels.rule }}", "RULE", "{{ $labels.scope }}", "all")

func newNight(t *testing.T) *night {
	a := newArena(t, settings{rules: "{orphan: {after: 30s, apart: 1s}}",
		limits: "{per_pass: 100, share: 100%, breaker: 40%, per_hour: 1000}"})
	n := &night{arena: a, ws: a.working(12), typed: map[string]bool{}}
	a.beat(n.ws) // a loaded machine may take minutes for it
	for range 8 {
		n.stale = a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute})
		a.box(n.stale, 4*time.Minute)
	}
	for range 20 {
		n.leak = a.box(newUUID(), 10*time.Minute).ID
	}
	n.snapshot(reconcile.TemplateInactive)
	a.once(0)
	a.later(2*time.Second, n.ws...)
	a.once(0)
	return n
}

// types runs a command once for each thing of the world that it may be about.
func (n *night) types(where string, words []string) {
	n.Helper()
	args := words[1:]
	verb, _, err := newRoot(console.Stdio{}).Find(args)
	if err != nil {
		n.Errorf("%s: %s: %v", where, strings.Join(words, " "), err)
		return
	}
	if len(args) == 1 && verb.Args(verb, nil) != nil {
		return // the verb is only named
	}
	ids := []string{n.stale, n.leak}
	if args[0] != "explain" {
		ids = ids[1:]
	}
	for _, id := range ids {
		key, _, _ := strings.Cut(strings.Join(args, " "), " --reason ")
		if key += fmt.Sprint(slices.Contains(args, "--reason"), id); !n.typed[key] { // whatever the reason
			n.typed[key] = true
			n.try(where, args, id)
		}
	}
}

// try runs one command, after what has to be so before it, and takes back what would change the rest.
func (n *night) try(where string, args []string, id string) {
	n.Helper()
	about := strings.Join(args, " ")
	lift := n.before(about)
	defer lift()
	if args[0] == "terminate" || strings.HasPrefix(about, "hold sandbox:ID") { // one that is still there
		id = n.box(newUUID(), time.Minute).ID
		n.once(0)
	}
	if strings.Contains(about, "incident:ID") || args[0] == "affected" || args[0] == "acknowledge" {
		id = n.incidents()[0].ID
	}
	rule := map[bool]string{true: "orphan", false: "assigned-stale"}[args[0] == "release"]
	fill := strings.NewReplacer("RULE", rule, "TARGET", "task:"+n.ws[0].task, "HASH", n.hash(about), "ID", id)
	filled := make([]string, len(args))
	for i, arg := range args {
		filled[i] = fill.Replace(arg)
	}
	code, out, errs := n.run(filled...)
	if allowed := (args[0] == "once" || args[0] == "status") && code == verb.NotTrusted; code != 0 && !allowed {
		n.Errorf("%s: sandkeeper %s: exit code %d\n%s%s", where, strings.Join(filled, " "), code, out, errs)
	}
	if said := ignorance.FindString(out + errs); said != "" {
		n.Errorf("%s: sandkeeper %s does not know what it is asked of: %q\n%s%s",
			where, strings.Join(filled, " "), said, out, errs)
	}
}

// ignorance is how the program says that it does not know something.
var ignorance = regexp.MustCompile(`(?i)\bunknown\b|not on record|did you mean|matches no |nothing is `)

// before brings about what a command is for, and returns what takes it back.
func (n *night) before(about string) (lift func()) {
	n.Helper()
	lift = func() {}
	target := "task:" + n.ws[0].task
	switch {
	case about == "check": // it ends with 1 while something is wrong
		n.snapshot(reconcile.TemplateActive)
		lift = func() { n.snapshot(reconcile.TemplateInactive) }
	case strings.HasPrefix(about, "resume"):
		n.must("pause", "all", "--reason", "a test")
	case strings.HasPrefix(about, "pause"):
		lift = func() { n.must("resume", "all") }
	case strings.HasPrefix(about, "unhold"):
		n.must("hold", target, "--reason", "a test")
	case strings.HasPrefix(about, "hold TARGET"):
		lift = func() { n.must("unhold", target) }
	case strings.HasPrefix(about, "mode RULE clear"):
		n.must("mode", "assigned-stale", "observe", "--reason", "a test")
	case strings.HasPrefix(about, "release listing:"):
		lift = n.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
			Omits: func(s simulated.Sandbox) bool { return s.Labels["task_id"] != nobody }})
		n.box(nobody, 10*time.Minute) // the only one that it still lists
		for range 2 {
			n.doubting()
			n.later(2*time.Second, n.ws...)
		}
	}
	return lift
}

// hash is that of the list which a release is about, as the release without it shows it.
func (n *night) hash(about string) string {
	n.Helper()
	what, _, asked := strings.Cut(strings.TrimPrefix(about, "release "), " --hash")
	if !asked {
		return ""
	}
	shown := n.must("release", strings.ReplaceAll(what, "RULE", "orphan"))
	_, rest, _ := strings.Cut(shown, "--hash ")
	return strings.Fields(rest)[0]
}

// shellLines are the lines of code in a text that call another program than ours.
func shellLines(text string) (lines []string) {
	for i, part := range strings.Split(text, "```") {
		code, is := strings.CutPrefix(part, "sh\n")
		if i%2 == 0 || !is {
			continue
		}
		for line := range strings.Lines(code) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			if line != "" && !strings.HasPrefix(line, "sandkeeper ") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

var counted = regexp.MustCompile(`\(\d+ rows?\)`)

var selector = regexp.MustCompile(`-l (\S+)=(\S+)`)

// runs runs a line of the shell: psql against the ledger, an address of the page against a process that serves it. There
// is no cluster here for kubectl: what it selects has to be what our manifests name their pods by.
func (n *night) runs(where, line string) {
	n.Helper()
	if n.typed[line] {
		return
	}
	n.typed[line] = true
	name, _, _ := strings.Cut(line, " ")
	switch name {
	case "psql":
		c := program.CommandContext(n.Context(), "sh", "-c", line)
		c.Env = append(os.Environ(), "DATABASE_URL="+n.dsn)
		if said, err := c.CombinedOutput(); err != nil || !counted.Match(said) {
			n.Errorf("%s: %s: %v\n%s", where, line, err, said)
		}
	case "curl":
		n.configure(settings{more: quickly})
		_, path, _ := strings.Cut(line, "127.0.0.1:8080")
		d := n.daemon("serve")
		if status, body := d.read(strings.Fields(path)[0]); status != http.StatusOK {
			n.Errorf("%s: %s answers %d: %s", where, line, status, body)
		}
		d.stop()
	case "kubectl":
		n.selects(where, line)
	default:
		n.Errorf("%s: nobody knows how to run %s here", where, line)
	}
}

func (n *night) selects(where, line string) {
	n.Helper()
	label := selector.FindStringSubmatch(line)
	for _, file := range []string{"deployment/run.yaml", "cronjob/once.yaml"} {
		text, err := os.ReadFile("../../deploy/kustomize/" + file)
		if err != nil {
			n.Fatal(err)
		}
		if label == nil || !strings.Contains(string(text), label[1]+": "+label[2]) {
			n.Errorf("%s: %s selects no pod of %s", where, line, file)
		}
	}
}
