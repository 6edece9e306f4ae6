package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestConfigShowAndGrants: what is in force reads back as YAML, and the roles are made by the SQL that is printed.
func TestConfigShowAndGrants(t *testing.T) {
	a := newArena(t, settings{})
	var shown map[string]any
	out := a.must("config", "show")
	if err := yaml.Unmarshal([]byte(out), &shown); err != nil || shown["installation"] != "test" {
		t.Fatalf("config show is no YAML: %v\n%s", err, out)
	}
	for _, want := range []string{"\n  preset: omoios  # " + a.config + ":5\n", "\n  - name: daytona  # ", "\nretention: 30d  # default\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("config show lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, a.dsn) {
		t.Errorf("config show shows the database:\n%s", out)
	}
	sql := a.must("grants")
	for _, want := range []string{`"project_id") ON "public"."tickets"`, `"sandbox_id") ON "public"."tasks" TO sandkeeper_tasks`,
		`"autonomous_execution_enabled") ON "public"."projects"`, `GRANT SELECT ("id") ON "public"."specs"`} {
		if !strings.Contains(sql, want) {
			t.Errorf("grants lacks %q:\n%s", want, sql)
		}
	}
	if strings.Contains(a.must("grants", "--for", "ledger"), "public.tasks") {
		t.Error("the grants of the ledger name a table of the platform")
	}
}

// TestHealthcheckAndPort: who answers at the address of the page.
func TestHealthcheckAndPort(t *testing.T) {
	a := newArena(t, settings{})
	said := "ok\n"
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, said) }))
	defer other.Close()
	address := other.Listener.Addr().String()
	a.configure(settings{more: fmt.Sprintf("web: {listen: %q}", address)})
	if out := a.must("healthcheck"); out != "ok\n" {
		t.Errorf("healthcheck says %q", out)
	}
	a.reaches("check knows a running one", func() bool { // whose answer it does not await for long
		_, out, _ := a.run("check")
		return strings.Contains(out, "ok    web: port: "+address+" is taken, by what answers as sandkeeper does")
	})
	said = "something else"
	if code, out, _ := a.run("check"); code != 1 || !strings.Contains(out, "FAIL  web: port: "+address+" is taken by another program") {
		t.Errorf("check beside another program: exit code %d\n%s", code, out)
	}
	other.Close()
	if code, _, errs := a.run("healthcheck"); code != 1 || !strings.Contains(errs, "it is served by run and serve") {
		t.Errorf("healthcheck of nobody: exit code %d\n%s", code, errs)
	}
}

// TestCheckShowsStatuses: a config that maps no status is told which there are.
func TestCheckShowsStatuses(t *testing.T) {
	a := newArena(t, settings{})
	a.task(row{status: "running", created: 1})
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "preset: omoios", "table: public.tasks, columns: {id: id, status: status}", 1)
	if err := os.WriteFile(a.config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := a.run("check")
	if code != 1 || !strings.Contains(out, `FAIL  tasks: statuses: the table has ["running"], and none is mapped`) {
		t.Errorf("check: exit code %d\n%s", code, out)
	}
}

// TestGrantsAreEnough: with what grants prints, and nothing else, check finds nothing wrong with the tasks and a pass is made.
func TestGrantsAreEnough(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	var granted []string
	for line := range strings.Lines(a.must("grants")) {
		if what, _, is := strings.Cut(line, " TO "); is && strings.HasPrefix(line, "GRANT ") {
			granted = append(granted, what+" TO %[1]s;")
		}
	}
	role := pgtest.AsRole(t, a.db, strings.Join(granted, "\n")).Config().ConnConfig
	login, err := url.Parse(a.dsn)
	if err != nil {
		t.Fatal(err)
	}
	login.User = url.UserPassword(role.User, role.Password)
	a.configure(settings{tasks: fmt.Sprintf(", database: %q", login)})
	ws := a.working(1)
	stale := a.task(row{status: "assigned", key: "omoios-worker-901", created: time.Hour, updated: time.Hour})
	_, out, _ := a.run("check")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "FAIL  tasks") {
			t.Errorf("check: %s", line)
		}
	}
	a.once(0)
	if status, _ := a.state(stale); status != "failed" {
		t.Errorf("the stale task is %s", status)
	}
	a.keeps(ws)
}
