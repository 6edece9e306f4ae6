package deploy

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A platform is a database of OmoiOS on which the grants ran, with a login for each role
// and a simulated Daytona.
type platform struct {
	*testing.T
	dsn   string
	admin *pgx.Conn
	cloud *simulated.World
	url   string
}

func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{T: t, dsn: pgtest.Database(t), cloud: simulated.New(simulated.Options{})}
	p.admin = p.connect("")
	p.must(pgtest.OmoiOS + pgtest.OmoiOSProgram)
	p.must("REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as PostgreSQL 15 has it by itself
	server := httptest.NewServer(daytonatest.New(p.cloud, daytonatest.Options{TaskLabel: "task_id"}))
	t.Cleanup(server.Close)
	p.url = server.URL + "/api"
	return p
}

// role is a role's name in this test: roles belong to a whole server, which other tests
// and other people may use.
func (p *platform) role(kind string) string {
	return strings.Replace(p.admin.Config().Database, "sandkeeper_test", "sandkeeper_"+kind, 1)
}

var roles = []string{"owner", "keeper", "reader", "tasks"}

// grant runs both files of grants as they are, but for the names of the roles.
func (p *platform) grant() {
	p.Helper()
	p.must(p.renamed("grants_ledger.sql"))
	p.must(p.renamed("grants_tasks.sql"))
}

// renamed is a file with the roles of this test.
func (p *platform) renamed(file string) string {
	p.Helper()
	text := read(p.T, file)
	for _, kind := range roles {
		text = strings.ReplaceAll(text, "sandkeeper_"+kind, p.role(kind))
	}
	return text
}

// logins makes the logins, by the lines that the grants tell of.
func (p *platform) logins() {
	p.Helper()
	p.Cleanup(func() {
		ctx := context.WithoutCancel(p.Context())
		for _, kind := range roles {
			p.drop(ctx, p.role(kind)+"_login")
			p.drop(ctx, p.role(kind))
		}
		if err := p.admin.Close(ctx); err != nil {
			p.Error(err)
		}
	})
	for _, kind := range roles {
		p.must("CREATE ROLE " + p.role(kind) + "_login LOGIN PASSWORD 'x' IN ROLE " + p.role(kind))
	}
	p.must("ALTER ROLE " + p.role("owner") + "_login SET role = '" + p.role("owner") + "'")
	p.must("ALTER ROLE " + p.role("reader") + "_login SET default_transaction_read_only = on")
}

func (p *platform) drop(ctx context.Context, role string) {
	for _, sql := range []string{"DROP OWNED BY " + role + " CASCADE", "DROP ROLE " + role} {
		if _, err := p.admin.Exec(ctx, sql); err != nil {
			p.Error(err)
		}
	}
}

// dsnOf is the address with the login of a role, "" for the admin.
func (p *platform) dsnOf(kind string) string {
	p.Helper()
	u, err := url.Parse(p.dsn)
	if err != nil {
		p.Fatal(err)
	}
	if kind != "" {
		u.User = url.UserPassword(p.role(kind)+"_login", "x")
	}
	return u.String()
}

func (p *platform) connect(kind string) *pgx.Conn {
	p.Helper()
	c, err := pgx.Connect(p.Context(), p.dsnOf(kind))
	if err != nil {
		p.Fatal(err)
	}
	if kind != "" {
		p.Cleanup(func() { _ = c.Close(context.WithoutCancel(p.Context())) })
	}
	return c
}

func (p *platform) must(sql string) {
	p.Helper()
	if _, err := p.admin.Exec(p.Context(), sql); err != nil {
		p.Fatal(err)
	}
}

// webUsers is a web.yml as README.md makes it: ana, with the password pw.
const webUsers = "basic_auth_users:\n  ana: \"$2b$10$BQbwNGn.TsojprHjxfmP1exhFV4JUSA4mg/AHjyO.692awvwEAGE2\"\n"

// config writes a config of its own for one process, with the page at an address.
func (p *platform) config(listen string) string {
	p.Helper()
	dir := p.TempDir()
	path, users := filepath.Join(dir, "sandkeeper.yaml"), filepath.Join(dir, "web.yml")
	text := fmt.Sprintf(`installation: test
mode: enforce
proof: off
database: ${DATABASE_URL}
schedule: {quick: "@every 1s", full: "@every 2s"}
tasks: {preset: omoios}
providers:
  - name: daytona
    kind: daytona
    url: %q
    token: key
    owns: {labels: {project: omoios}, exclusive: true}
    link: {task_label: task_id}
    rate: 1000/s
limits: {share: 100%%, breaker: 100%%}
web: {listen: %q, config_file: %q}
log: {level: warn}
`, p.url, listen, users)
	for name, content := range map[string]string{path: text, users: webUsers} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	return path
}

// sandkeeper is one call of the program with the login of a role.
func (p *platform) sandkeeper(kind string, args ...string) said {
	p.Helper()
	return call(p.T, []string{"DATABASE_URL=" + p.dsnOf(kind)}, append(args, "-c", p.config("127.0.0.1:0"))...)
}

func (p *platform) works(kind string, args ...string) string {
	p.Helper()
	got := p.sandkeeper(kind, args...)
	if got.code != 0 {
		p.Fatalf("sandkeeper %s as %s: %s", strings.Join(args, " "), kind, got)
	}
	return got.out
}

// further is what a migration may make besides plain tables, as that of the jobs does.
const further = `CREATE TYPE sandkeeper.further AS ENUM ('one');
	CREATE FUNCTION sandkeeper.furthest() RETURNS integer LANGUAGE sql AS 'SELECT 1';
	CREATE TABLE sandkeeper.further_rows (id bigserial PRIMARY KEY, one sandkeeper.further);
	CREATE SEQUENCE sandkeeper.further_numbers;`

// TestGrants runs the grants before the first migrate, after it, and twice: what the roles
// may do is the same.
func TestGrants(t *testing.T) {
	cases := map[string]func(p *platform){
		"before migrate": func(p *platform) {
			p.grant()
			p.logins()
			p.works("owner", "migrate")
			if _, err := p.connect("owner").Exec(p.Context(), further); err != nil {
				p.Fatal(err)
			}
		},
		"after another role has migrated": func(p *platform) {
			p.works("", "migrate")
			p.must(further)
			p.grant()
			p.grant()
			p.logins()
			p.works("owner", "migrate")
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			prepare(p)
			p.must(`INSERT INTO program.tasks (status) VALUES ('running');
				INSERT INTO program.sandbox_events (sandbox_id, event_type) VALUES ('s', 'agent.started')`)
			p.ownsAll()
			p.triesTables()
			p.triesStatements()
		})
	}
}

// ownsAll: everything in the schema is the owner's, so that the next migration can change it.
func (p *platform) ownsAll() {
	p.Helper()
	rows, err := p.admin.Query(p.Context(), `
		SELECT c.oid::regclass::text FROM pg_class c
		WHERE c.relnamespace = 'sandkeeper'::regnamespace AND c.relowner <> $1::regrole
		UNION ALL SELECT p.oid::regprocedure::text FROM pg_proc p
		WHERE p.pronamespace = 'sandkeeper'::regnamespace AND p.proowner <> $1::regrole
		UNION ALL SELECT t.oid::regtype::text FROM pg_type t
		WHERE t.typnamespace = 'sandkeeper'::regnamespace AND t.typowner <> $1::regrole`, p.role("owner"))
	if err != nil {
		p.Fatal(err)
	}
	strange, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(strange) > 0 {
		p.Errorf("not the owner's: %q, %v", strange, err)
	}
}

// unwritten is what the keeper may not do with the tables of the record, and with no others may not.
var unwritten = map[string][]string{
	"sandkeeper.timeline":       {"UPDATE", "DELETE"},
	"sandkeeper.modes":          {"DELETE"},
	"sandkeeper.arms":           {"DELETE"},
	"sandkeeper.armings":        {"DELETE"},
	"sandkeeper.learned":        {"UPDATE", "DELETE"},
	"sandkeeper.proof_grace":    {"INSERT", "UPDATE", "DELETE"},
	"sandkeeper.timeline_links": {"INSERT", "UPDATE", "DELETE"},
	"sandkeeper.timeline_chain": {"INSERT", "UPDATE", "DELETE"},
	"sandkeeper.releases":       {"UPDATE"},
}

// triesTables: of every table of ours, also those of jobs, the keeper writes rows and the
// reader only reads.
func (p *platform) triesTables() {
	p.Helper()
	rows, err := p.admin.Query(p.Context(), `SELECT c.oid::regclass::text FROM pg_class c
		WHERE c.relnamespace = 'sandkeeper'::regnamespace AND c.relkind IN ('r', 'p')`)
	if err != nil {
		p.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 10 {
		p.Fatalf("tables of the schema sandkeeper = %q, %v", tables, err)
	}
	reader, keeper := p.connect("reader"), p.connect("keeper")
	for _, table := range tables {
		p.allowed(reader, "SELECT FROM "+table)
		p.refused(reader, "DELETE FROM "+table)
		p.refused(reader, "INSERT INTO "+table+" DEFAULT VALUES")
		p.allowed(keeper, "SELECT FROM "+table)
		for verb, sql := range map[string]string{"DELETE": "DELETE FROM " + table, "INSERT": "INSERT INTO " + table + " DEFAULT VALUES"} {
			if slices.Contains(unwritten[table], verb) {
				p.refused(keeper, sql)
			} else {
				p.allowed(keeper, sql)
			}
		}
		p.refused(keeper, "TRUNCATE "+table)
		p.refused(keeper, "ALTER TABLE "+table+" ADD COLUMN more text")
		p.refused(keeper, "DROP TABLE "+table)
	}
}

// written are the columns that the grants let the keeper write.
var written = []string{"status", "error_message", "completed_at", "sandbox_id", "conversation_id", "retry_count"}

// triesStatements is what the roles may do with the platform's tables.
func (p *platform) triesStatements() {
	p.Helper()
	both := map[string]bool{
		"SELECT * FROM tasks": true, "SELECT xmin FROM tasks": true, "SELECT * FROM sandbox_events": true,
		"INSERT INTO tasks DEFAULT VALUES": false, "DELETE FROM tasks": false, "TRUNCATE tasks": false,
		"INSERT INTO sandbox_events (sandbox_id, event_type) VALUES ('s', 'x')": false,
		"UPDATE sandbox_events SET event_type = 'x'":                            false,
		"DELETE FROM sandbox_events":                                            false,
		"ALTER TABLE tasks ADD COLUMN more text":                                false,
		"DROP TABLE tasks":                                                      false,
		"CREATE TABLE public.more (x int)":                                      false,
		"CREATE TABLE sandkeeper.more (x int)":                                  false,
		"CREATE SCHEMA more":                                                    false,
		"CREATE ROLE more":                                                      false,
		"SET ROLE " + p.role("owner"):                                           false,
	}
	for _, column := range p.columns("tasks") {
		both["UPDATE tasks SET "+column+" = "+column] = slices.Contains(written, column)
	}
	// A lock on a row needs the right to change it.
	both["SELECT FROM tasks FOR UPDATE"] = true
	for _, kind := range []string{"reader", "keeper"} {
		conn := p.connect(kind)
		for sql, may := range both {
			may = may && (kind == "keeper" || strings.HasPrefix(sql, "SELECT") && !strings.Contains(sql, "FOR UPDATE"))
			if may {
				p.allowed(conn, sql)
			} else {
				p.refused(conn, sql)
			}
		}
	}
}

func (p *platform) columns(table string) []string {
	p.Helper()
	rows, err := p.admin.Query(p.Context(),
		"SELECT attname::text FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0", table)
	if err != nil {
		p.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) == 0 {
		p.Fatalf("columns of %s = %q, %v", table, names, err)
	}
	return names
}

const insufficientPrivilege = "42501"

// try runs a statement and takes it back. What it returns is the code of the refusal, ""
// when it was allowed: what the database says of values is of no interest here.
func (p *platform) try(conn *pgx.Conn, sql string) string {
	p.Helper()
	// Whoever has the password may ask for a transaction that writes, whatever the login's default.
	tx, err := conn.BeginTx(p.Context(), pgx.TxOptions{AccessMode: pgx.ReadWrite})
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = tx.Rollback(p.Context()) }()
	_, err = tx.Exec(p.Context(), sql)
	var refusal *pgconn.PgError
	if err != nil && !errors.As(err, &refusal) {
		p.Fatal(err)
	}
	if refusal == nil {
		return ""
	}
	return refusal.Code
}

// allowed: the rights are there. A row of defaults may still break a constraint, which is
// looked at after them.
func (p *platform) allowed(conn *pgx.Conn, sql string) {
	p.Helper()
	const integrity = "23" // the class of broken constraints
	if code := p.try(conn, sql); code != "" && !strings.HasPrefix(code, integrity) {
		p.Errorf("%s: %s is refused with %s, want it allowed", conn.Config().User, sql, code)
	}
}

func (p *platform) refused(conn *pgx.Conn, sql string) {
	p.Helper()
	if code := p.try(conn, sql); code != insufficientPrivilege {
		p.Errorf("%s: %s ends with %q, want it refused with %s", conn.Config().User, sql, code, insufficientPrivilege)
	}
}
