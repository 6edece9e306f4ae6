package deploy

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// guard runs terminal_rows.sql as it is, but for the names of the roles.
func (p *platform) guard() {
	p.Helper()
	p.must(p.renamed("terminal_rows.sql"))
}

// over are rows that the keeper's role wants to change, by their status and error.
const over = `INSERT INTO program.tasks (status, error_message, sandbox_id) VALUES
	('running', NULL, 'running'), ('claiming', 'x', 'claiming'), ('completed', NULL, 'completed'),
	('completed', 'again [sandkeeper k1]', 'requeued'), ('cancelled', NULL, 'cancelled'), ('archived', NULL, 'unknown'),
	('failed', 'by the platform', 'failed'), ('failed', NULL, 'silent'), ('failed', 'gone [sandkeeper k2]', 'ours')`

// A wish is what somebody wants of the row with that sandbox.
type wish struct{ row, set string }

var wishes = map[wish]bool{ // whether the keeper's role may
	{"running", "status = 'failed', error_message = 'gone [sandkeeper k3]'"}: true,
	{"claiming", "status = 'pending', sandbox_id = NULL"}:                    true,
	{"running", "error_message = 'x'"}:                                       true,
	{"running", "status = 'completed'"}:                                      false,
	{"running", "status = 'cancelled'"}:                                      false,
	{"running", "status = 'no such status'"}:                                 false,
	{"completed", "status = 'failed'"}:                                       false,
	{"completed", "error_message = 'x'"}:                                     false,
	{"completed", "sandbox_id = sandbox_id"}:                                 false,
	{"requeued", "status = 'running'"}:                                       false,
	{"cancelled", "status = 'pending'"}:                                      false,
	{"unknown", "status = 'failed'"}:                                         false,
	{"failed", "status = 'running'"}:                                         false,
	{"failed", "error_message = 'gone [sandkeeper k2]'"}:                     false,
	{"silent", "status = 'pending'"}:                                         false,
	{"ours", "status = 'running', error_message = NULL"}:                     true, // restore
	{"ours", "error_message = 'another story'"}:                              false,
	{"ours", "status = 'completed'"}:                                         false,
}

// TestTerminalRowsAreKept: with the trigger the database refuses the keeper's role what its
// grants would let it do; without it, by its grants, it may. Nobody else is held.
func TestTerminalRowsAreKept(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.grant()
	p.logins()
	app := p.role("owner") + "_app"
	p.app(app)
	p.must(over)
	keeper, platform := p.connect("keeper"), p.connectAs(app)
	for w := range wishes {
		p.allowed(keeper, w.sql())
	}
	p.guard()
	p.guard() // twice is as good as once
	for w, may := range wishes {
		if may {
			p.allowed(keeper, w.sql())
		} else {
			p.raises(keeper, w.sql())
		}
		p.allowed(platform, w.sql())
		p.allowed(p.admin, w.sql())
	}
	p.must("CREATE OR REPLACE FUNCTION public.sandkeeper_refuses() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
	p.allowed(keeper, wish{"completed", "status = 'failed'"}.sql()) // it is the function that refuses
}

// app makes a role of the platform's own.
func (p *platform) app(role string) {
	p.Helper()
	p.must("CREATE ROLE " + role + " LOGIN PASSWORD 'x'; GRANT SELECT, UPDATE ON tasks TO " + role)
	p.Cleanup(func() { p.drop(context.WithoutCancel(p.Context()), role) })
}

func (w wish) sql() string {
	return "UPDATE tasks SET " + w.set + " WHERE sandbox_id = '" + w.row + "'"
}

func (p *platform) raises(conn *pgx.Conn, sql string) {
	p.Helper()
	const raised = "P0001"
	if code := p.try(conn, sql); code != raised {
		p.Errorf("%s: %s ends with %q, want it refused with %s", conn.Config().User, sql, code, raised)
	}
}

// TestTerminalRowsElsewhere: where the keeper's role does not exist, as in a restored copy,
// the trigger is in nobody's way.
func TestTerminalRowsElsewhere(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	text := strings.ReplaceAll(read(t, "terminal_rows.sql"), "sandkeeper_keeper", "nobody_of_that_name")
	p.must(strings.ReplaceAll(text, "sandkeeper_tasks", "nobody_of_that_name"))
	app := p.role("app")
	t.Cleanup(func() { _ = p.admin.Close(context.WithoutCancel(t.Context())) })
	p.app(app)
	p.must(over)
	platform := p.connectAs(app)
	for w := range wishes {
		p.allowed(platform, w.sql())
	}
}

// TestProgramUnderTheTrigger: what sandkeeper does to rows goes through, and check says which
// level is in force.
func TestProgramUnderTheTrigger(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.grant()
	p.logins()
	p.works("owner", "migrate")
	p.checkSays("kept by the conditions of our own statement alone")
	p.guard()
	p.checkSays("the database refuses to change them")
	p.must(`INSERT INTO program.tasks (status, created_at, updated_at)
		VALUES ('assigned', now() - interval '2 hours', now() - interval '1 hour')`)
	p.works("keeper", "once", "--wait", "1m")
	p.statuses("failed")
	p.must("ALTER TABLE tasks DISABLE TRIGGER sandkeeper_guard")
	p.checkSays("kept by the conditions of our own statement alone")
	p.must("ALTER TABLE tasks ENABLE TRIGGER sandkeeper_guard")
	p.must(strings.ReplaceAll(strings.ReplaceAll(read(t, "terminal_rows.sql"), "sandkeeper_keeper", p.role("keeper")),
		"'claiming'", "'cancelled'"))
	p.checkSays(`takes "cancelled" for a live status`)
}

// checkSays runs check as the keeper, who may do what he needs.
func (p *platform) checkSays(want string) {
	p.Helper()
	got := p.works("keeper", "check")
	if !strings.Contains(got, want) || !strings.Contains(got, "ok    tasks: role: may change of") {
		p.Errorf("check does not say %q, or not that the role fits:\n%s", want, got)
	}
}

// connectAs is a connection of a role that has the password x.
func (p *platform) connectAs(role string) *pgx.Conn {
	p.Helper()
	config := p.admin.Config().Copy()
	config.User, config.Password = role, "x"
	conn, err := pgx.ConnectConfig(p.Context(), config)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = conn.Close(context.WithoutCancel(p.Context())) })
	return conn
}
