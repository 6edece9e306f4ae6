package deploy

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestTwoLoginsTwoDatabases: as README.md says it, the ledger in a database of its own and a login for the tasks alone.
// It all works, check has nothing to warn of in it, and the tasks' login reaches no ledger.
func TestTwoLoginsTwoDatabases(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ledger := pgtest.Database(t)
	p.must(p.renamed("grants_tasks.sql"))
	admin, err := pgx.Connect(t.Context(), ledger)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), p.renamed("grants_ledger.sql")); err != nil {
		t.Fatal(err)
	}
	p.logins()
	t.Cleanup(func() {
		for _, kind := range roles {
			if _, err := admin.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+p.role(kind)+" CASCADE"); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close(context.WithoutCancel(t.Context()))
	})
	as := func(kind string) string {
		u, err := url.Parse(ledger)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(p.role(kind)+"_login", "x")
		return u.String()
	}
	run := func(kind string, args ...string) said {
		path := p.config("127.0.0.1:0")
		text := strings.Replace(read(t, path), "tasks: {preset", "tasks: {database: \"${TASKS_DATABASE_URL}\", preset", 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return call(t, []string{"DATABASE_URL=" + as(kind), "TASKS_DATABASE_URL=" + p.dsnOf("tasks")}, append(args, "-c", path)...)
	}
	p.must(`INSERT INTO program.tasks (status, created_at, updated_at)
		VALUES ('assigned', now() - interval '2 hours', now() - interval '1 hour')`)
	for _, step := range []struct {
		kind string
		args []string
	}{{"owner", []string{"migrate"}}, {"keeper", []string{"once", "--wait", "1m"}}, {"keeper", []string{"check"}}} {
		got := run(step.kind, step.args...)
		if got.code != 0 {
			t.Fatalf("%s as %s: %s", step.args, step.kind, got)
		}
		if step.args[0] == "check" && !strings.Contains(got.out, "ledger: this login does not reach it") {
			t.Errorf("check does not say that the tasks' login reaches no ledger:\n%s", got.out)
		}
	}
	p.statuses("failed")
	tasks, err := pgx.Connect(t.Context(), as("tasks"))
	if err == nil {
		_, err = tasks.Exec(t.Context(), "SELECT FROM sandkeeper.actions")
		_ = tasks.Close(t.Context())
	}
	if err == nil {
		t.Error("the tasks' login reads the ledger")
	}
}
