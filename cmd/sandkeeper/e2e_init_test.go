package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/store/tasks/propose"
)

// TestInit: from nothing to the first plan on a platform that a preset knows, and on one that nobody knows.
func TestInit(t *testing.T) {
	a := newArena(t, settings{})
	a.working(2)
	stale := a.task(row{status: "assigned", key: "omoios-worker-902", created: time.Hour, updated: time.Hour})
	before := a.rows()
	file := filepath.Join(t.TempDir(), "sandkeeper.yaml")
	a.env = append(a.env, "DAYTONA_TOKEN=key", tasksVariable+"="+a.dsn, ledgerVariable+"="+a.dsn)
	first := a.prepare("init", "--provider", "daytona", "--provider-url", a.url, "--output", file)
	out, err := first.cmd.Output()
	if err != nil {
		t.Fatalf("init: %v\n%s%s", err, out, first.errs.String())
	}
	for _, want := range []string{"the platform is omoios: ", "wrote " + file, "\nsandkeeper check:\nok    config: loads: installation prod\n",
		"FAIL  ledger: schema: version 0 of ", "\nsandkeeper plan:\nfull pass at ", "held fail task " + stale} {
		if !strings.Contains(string(out), want) {
			t.Errorf("init lacks %q:\n%s", want, out)
		}
	}
	a.untouched(before)
	again := a.prepare("init", "--provider", "daytona", "--output", file)
	if err := again.cmd.Run(); err == nil || !strings.Contains(again.errs.String(), "is there already") {
		t.Errorf("a second init: %v\n%s", err, again.errs.String())
	}
}

// TestInitOfStrangers: a schema that no preset knows is mapped, and what was written is accepted by check and plan.
func TestInitOfStrangers(t *testing.T) {
	a := newArena(t, settings{})
	a.sql("DROP SCHEMA IF EXISTS program CASCADE; DROP TABLE IF EXISTS public.tasks CASCADE")
	a.sql(readFile(t, filepath.Join("..", "..", "store", "tasks", "propose", "testdata", "agents.sql")))
	code, out, errs := a.run("init", "--database", a.dsn, "--provider", "daytona", "--output", "-")
	if code != 0 || !strings.Contains(out, `table: "public.\"AgentRun\""`) || !strings.Contains(out, `link: {sandbox: id}`) {
		t.Fatalf("init: exit code %d\n%s%s", code, out, errs)
	}
	text := strings.NewReplacer("${DAYTONA_TOKEN}", "key\n    url: "+a.url, "${DATABASE_URL}", a.dsn,
		"${TASKS_DATABASE_URL}", a.dsn).Replace(out)
	if err := os.WriteFile(a.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ = a.run("check")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "FAIL  tasks") && !strings.Contains(line, "needs_human") { // it was left open, and is said
			t.Errorf("check: %s", line)
		}
	}
	if out := a.must("plan"); !strings.Contains(out, "full pass at ") {
		t.Errorf("plan: %s", out)
	}
}

// TestInitRefuses: what is missing where nobody can be asked, and what cannot be read.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"init --database postgres://127.0.0.1:1/x":                          "--provider is required where there is no terminal",
		"init --provider daytonna --database x":                             `did you mean "daytona"?`,
		"init --provider generic --database x":                              "known are agentuity",
		"init --provider docker --installation A_B --database x --output -": "is not a name",
	} {
		code, out, errs := called(t, line)
		if code != verb.WrongUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d\n%s%s", line, code, out, errs)
		}
	}
	if code, _, errs := called(t, "init --provider docker --output - --database postgres://nobody@127.0.0.1:1/x"); code != 1 ||
		!strings.Contains(errs, "127.0.0.1") {
		t.Errorf("a database that is not there: exit code %d\n%s", code, errs)
	}
}

// TestInitOfPlatforms: what a platform is known for is proposed, at a kind that can have it, and else what any may have.
func TestInitOfPlatforms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ preset, kind, want string }{
		"its own labels":             {"omoios", "daytona", "link: {task_label: task_id}  # the platform's own"},
		"a label of the environment": {"omoios", "daytona", "owns: {labels: {project: omoios}}"},
		"a tag, and its rows":        {"coding-agent", "vercel", "link: {task_label: task_id, sandbox: id}"},
		"what a row names":           {"coding-agent", "vercel", "owns: {referenced: true}"},
		"labels of two kinds":        {"kortix", "e2b", `owns: {labels: {kortix.managed: "true", kortix.env: prod}}`},
		"labels of two kinds there":  {"kortix", "daytona", "link: {sandbox: id}  # external_id"},
		"names of Pods":              {"triggerdev", "kubernetes", "owns: {labels: {app: task-run}}"},
		"names of containers":        {"triggerdev", "docker", "owns: {name_prefix: runner-}"},
		"a name, and no id":          {"triggerdev", "docker", "link: {sandbox: name}"},
		"a prefix":                   {"openhands", "docker", "owns: {name_prefix: oh-agent-server-}"},
		"a label of the run":         {"prefect", "kubernetes", "link: {task_label: prefect.io/flow-run-id}"},
		"a platform of nobody":       {"garm", "kubernetes", "owns: {labels: {sandkeeper: prod}}"},
	} {
		f := &initFlags{database: "postgres://u@h/db", installation: "prod", provider: c.kind, output: "x.yaml"}
		got, err := f.config(&propose.Proposal{Preset: propose.Line{Key: "preset", Value: c.preset, Why: "x"}}, "")
		if err != nil || !strings.Contains(got, "    "+c.want) {
			t.Errorf("%s: %v, and it lacks %q:\n%s", name, err, c.want, got)
		}
	}
}

// TestProposalsLoad: each proposal that is kept as a golden file is a config, and each kind has an entry that is one.
func TestProposalsLoad(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("..", "..", "store", "tasks", "propose", "testdata", "*.yaml")
	files, err := filepath.Glob(golden)
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	f := &initFlags{database: "postgres://u@h/db", installation: "prod"}
	for _, file := range files {
		c, err := config.Parse(file, []byte(readFile(t, file)), f.filled)
		if err != nil {
			t.Error(err)
		} else if len(c.Warnings) > 0 {
			t.Errorf("%s warns: %v", file, c.Warnings)
		}
	}
	tables := propose.Proposal{Preset: propose.Line{Key: "preset", Value: "garm", Why: "x"}}
	for _, kind := range proposable() {
		for name, p := range map[string]*propose.Proposal{
			"rows that name sandboxes": &tables, "labels": {Preset: propose.Line{Key: "preset", Value: "omoios", Why: "x"}}, "no tasks": {None: "x"},
		} {
			f.provider, f.output = kind, "x.yaml"
			if _, err := f.config(p, ""); err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}
