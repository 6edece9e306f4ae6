package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// estate is what a platform has besides its tasks, and what none of our roles may see: keys,
// another schema, functions with rights of their own, views, sequences.
const estate = `CREATE TABLE api_keys (id serial PRIMARY KEY, secret text);
	INSERT INTO api_keys (secret) VALUES ('hunter2');
	CREATE VIEW failed_tasks AS SELECT * FROM tasks WHERE status = 'failed';
	CREATE MATERIALIZED VIEW task_counts AS SELECT status, count(*) FROM tasks GROUP BY status;
	CREATE SCHEMA billing;
	CREATE TABLE billing.cards (id serial PRIMARY KEY, number text);
	CREATE FUNCTION billing.charge() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';`

// everything lists what a role may do with each relation outside of the system's schemas,
// in which schemas it may look and make things, and what else would give it rights.
const everything = `
SELECT p.privilege || ' ' || c.oid::regclass
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS p (privilege)
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_any_column_privilege($1::name, c.oid, p.privilege)
UNION ALL
SELECT p.privilege || ' ' || c.oid::regclass
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS p (privilege)
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege($1::name, c.oid, p.privilege)
UNION ALL
SELECT p.privilege || ' sequence ' || c.oid::regclass
FROM pg_class AS c
CROSS JOIN unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS p (privilege)
WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege($1::name, c.oid, p.privilege) END
UNION ALL
SELECT 'UPDATE column ' || a.attname
FROM pg_attribute AS a
WHERE a.attrelid = 'public.tasks'::regclass AND a.attnum > 0 AND has_column_privilege($1::name, a.attrelid, a.attnum, 'UPDATE')
UNION ALL
SELECT p.privilege || ' schema ' || n.nspname
FROM pg_namespace AS n CROSS JOIN unnest(ARRAY['USAGE', 'CREATE']) AS p (privilege)
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND has_schema_privilege($1::name, n.oid, p.privilege)
UNION ALL
SELECT 'CREATE database ' || d.datname FROM pg_database AS d WHERE has_database_privilege($1::name, d.oid, 'CREATE')
UNION ALL
SELECT 'EXECUTE with the rights of its owner ' || f.oid::regprocedure
FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace AND n.nspname !~ '^pg_'
WHERE f.prosecdef AND has_schema_privilege($1::name, n.oid, 'USAGE') AND has_function_privilege($1::name, f.oid, 'EXECUTE')
UNION ALL
SELECT 'member of ' || r.rolname FROM pg_roles AS r
WHERE pg_has_role($1::name, r.oid, 'MEMBER') AND r.rolname <> $1::name
UNION ALL
SELECT 'attribute ' || a.attribute
FROM pg_roles AS r, LATERAL (VALUES ('superuser', r.rolsuper), ('createdb', r.rolcreatedb), ('createrole', r.rolcreaterole),
    ('replication', r.rolreplication), ('bypassrls', r.rolbypassrls), ('login', r.rolcanlogin)) AS a (attribute, has)
WHERE r.rolname = $1::name AND a.has
UNION ALL
SELECT 'owns ' || s.classid::regclass || ' ' || s.objid FROM pg_shdepend AS s
WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1::text::regrole AND s.deptype = 'o'`

// TestRolesReachNothingElse reads from the catalog all that the roles may do in the whole
// database, and wants just what the grants say.
func TestRolesReachNothingElse(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.must(estate)
	p.grant()
	p.logins()
	p.works("owner", "migrate")
	p.guard()
	ledger := p.list(`SELECT c.oid::regclass::text FROM pg_class AS c
		WHERE c.relnamespace = 'sandkeeper'::regnamespace AND c.relkind IN ('r', 'p')`)
	sequences := p.list(`SELECT c.oid::regclass::text FROM pg_class AS c
		WHERE c.relnamespace = 'sandkeeper'::regnamespace AND c.relkind = 'S'`)
	reader := []string{"SELECT projects", "SELECT sandbox_events", "SELECT specs", "SELECT tasks", "SELECT tickets", "USAGE schema public", "USAGE schema sandkeeper"}
	keeper := append(slices.Clone(reader), "UPDATE tasks")
	for _, column := range written {
		keeper = append(keeper, "UPDATE column "+column)
	}
	for _, table := range ledger {
		reader = append(reader, "SELECT "+table)
		for _, privilege := range []string{"SELECT", "INSERT", "UPDATE", "DELETE"} {
			if !slices.Contains(unwritten[table], privilege) {
				keeper = append(keeper, privilege+" "+table)
			}
		}
	}
	keeper = append(keeper, "EXECUTE with the rights of its owner sandkeeper.purge_timeline(timestamp with time zone,integer)")
	for _, sequence := range sequences {
		keeper = append(keeper, "USAGE sequence "+sequence)
	}
	for kind, want := range map[string][]string{"reader": reader, "keeper": keeper} {
		got := p.list(everything, p.role(kind))
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the %s may do (-as the grants say +as the catalog says):\n%s", kind, diff)
		}
		login := append(slices.Clone(want), "attribute login", "member of "+p.role(kind))
		got = p.list(everything, p.role(kind)+"_login")
		slices.Sort(got)
		slices.Sort(login)
		if diff := cmp.Diff(login, got); diff != "" {
			t.Errorf("the login of the %s may do (-want +got):\n%s", kind, diff)
		}
	}
	p.knowsNothing(t)
}

// knowsNothing asks for what the platform keeps to itself, as somebody would who has one of
// our passwords.
func (p *platform) knowsNothing(t *testing.T) {
	t.Helper()
	statements := []string{
		"SELECT secret FROM api_keys", "SELECT FROM billing.cards", "SELECT billing.charge()", "SELECT * FROM failed_tasks",
		"SELECT nextval('api_keys_id_seq')", "SELECT setval('sandkeeper." + p.sequence() + "', 1)", "LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE",
		"ALTER TABLE tasks DISABLE TRIGGER sandkeeper_guard", "DROP TRIGGER sandkeeper_guard ON tasks",
		"CREATE OR REPLACE FUNCTION public.sandkeeper_refuses() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
		"ALTER FUNCTION public.sandkeeper_refuses() OWNER TO CURRENT_USER", "CREATE FUNCTION sandkeeper.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"SET session_replication_role = replica", "SET SESSION AUTHORIZATION postgres", "COPY tasks TO '/tmp/sandkeeper-stolen'",
		"COPY tasks (status) FROM PROGRAM 'echo stolen'", "CREATE EXTENSION dblink", "SELECT pg_read_file('/etc/passwd')",
		"COMMENT ON TABLE tasks IS 'x'", "CREATE INDEX ON tasks (task_type)", "GRANT SELECT ON tasks TO PUBLIC",
		"ALTER ROLE " + p.role("keeper") + " SUPERUSER", "GRANT " + p.role("owner") + " TO " + p.role("reader") + "_login",
	}
	for _, kind := range []string{"reader", "keeper"} {
		conn := p.connect(kind)
		for _, sql := range statements {
			switch code := p.try(conn, sql); code {
			case insufficientPrivilege:
			case "01007", "": // GRANT of what one does not have is a warning, and grants nothing
				if !strings.HasPrefix(sql, "GRANT SELECT") {
					p.Errorf("%s: %s is allowed", kind, sql)
				}
			default:
				p.Errorf("%s: %s ends with %q, want it refused with %s", kind, sql, code, insufficientPrivilege)
			}
		}
	}
	// What everybody may do needs more than a slip: the reader's transactions are read-only.
	for _, sql := range []string{"CREATE TEMPORARY TABLE mine (x int)", "CREATE TABLE pg_temp.mine (x int)"} {
		if _, err := p.connect("reader").Exec(p.Context(), sql); err == nil {
			p.Errorf("reader: %s is allowed", sql)
		}
	}
	if got := p.list("SELECT grantee::regrole::text FROM pg_class AS c, aclexplode(c.relacl) WHERE c.oid = 'tasks'::regclass AND grantee = 0"); len(got) > 0 {
		p.Errorf("everybody was granted something on tasks: %q", got)
	}
}

func (p *platform) sequence() string {
	p.Helper()
	return p.list("SELECT relname::text FROM pg_class WHERE relkind = 'S' AND relnamespace = 'sandkeeper'::regnamespace LIMIT 1")[0]
}

// TestRoleOfTheOwner: who migrates knows no task, and owns nothing that runs in the
// platform's own statements.
func TestRoleOfTheOwner(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.must(estate)
	p.grant()
	p.logins()
	p.works("owner", "migrate")
	p.guard()
	p.grant() // takes over what is in the schema, and must not take the guard
	owner := p.connect("owner")
	for _, sql := range []string{
		"SELECT FROM tasks", "UPDATE tasks SET status = 'failed'", "SELECT FROM api_keys", "SELECT FROM billing.cards",
		"CREATE TABLE public.more (x int)", "CREATE SCHEMA more", "DROP FUNCTION public.sandkeeper_refuses() CASCADE",
		"ALTER TABLE tasks DISABLE TRIGGER ALL",
	} {
		p.refused(owner, sql)
	}
	own := p.list(`SELECT DISTINCT n.nspname::text FROM pg_proc AS f JOIN pg_namespace AS n ON n.oid = f.pronamespace
		JOIN pg_trigger AS t ON t.tgfoid = f.oid AND t.tgrelid = 'public.tasks'::regclass WHERE f.proowner = $1::text::regrole`, p.role("owner"))
	if len(own) > 0 {
		t.Errorf("the owner's own functions run in triggers of the platform: %q", own)
	}
}

func (p *platform) list(sql string, args ...any) []string {
	p.Helper()
	rows, err := p.admin.Query(p.Context(), sql, args...)
	if err != nil {
		p.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		p.Fatal(fmt.Errorf("%s: %w", sql, err))
	}
	return out
}
