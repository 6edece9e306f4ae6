package ledger

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestCheckNamesWhoReachesTheLedger: a schema that others may create in and a trigger that no migration made fail,
// a login that owns it all is warned of.
func TestCheckNamesWhoReachesTheLedger(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	if wrong := failing(g.Check(t.Context())); len(wrong) > 0 {
		t.Errorf("a fresh ledger: %q", wrong)
	}
	_, err := pool.Exec(t.Context(), `GRANT CREATE ON SCHEMA sandkeeper TO PUBLIC;
		CREATE FUNCTION public.planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER nice AFTER INSERT ON sandkeeper.actions EXECUTE FUNCTION public.planted()`)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Join(failing(g.Check(t.Context())), "\n")
	for _, want := range []string{"everybody may create", "FROM PUBLIC", "nice on sandkeeper.actions"} {
		if !strings.Contains(wrong, want) {
			t.Errorf("check says %q, want %q in it", wrong, want)
		}
	}
	login := pgtest.AsRole(t, pool, "GRANT ALL ON ALL TABLES IN SCHEMA sandkeeper TO %[1]s").Config().ConnConfig.User
	planters := map[bool]string{}
	for _, line := range g.Check(t.Context()) {
		planters[line.What == "planters"] = line.Said + line.Fix
	}
	if want := "SCHEMA sandkeeper FROM " + login; !strings.Contains(planters[true], want) {
		t.Errorf("check says %q of who may make triggers, want %q", planters[true], want)
	}
	for name, c := range map[string]struct {
		reach reach
		says  string
	}{
		"a superuser":    {reach{Owner: "o", Owned: true, Superuser: true}, "is a superuser"},
		"the owner":      {reach{Owner: "o", Owned: true}, "may act as o"},
		"a narrow login": {reach{Owner: "o"}, "may not act as that"},
	} {
		if line := c.reach.lines()[0]; !line.OK || !strings.Contains(line.Said, c.says) || (line.Fix == "") != (name == "a narrow login") {
			t.Errorf("%s: %+v", name, line)
		}
	}
}

// TestCheckFailsForATasksLoginThatReaches: a login that somebody made for the tasks alone, and that can write to the
// ledger, is wrong, as it is for migrate.
func TestCheckFailsForATasksLoginThatReaches(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	migrated(t, pool, atNoon)
	for name, c := range map[string]struct {
		grants string
		fails  bool
	}{
		"it reads":                 {"GRANT USAGE ON SCHEMA sandkeeper TO %[1]s; GRANT SELECT ON sandkeeper.actions TO %[1]s", false},
		"it writes":                {"GRANT USAGE ON SCHEMA sandkeeper TO %[1]s; GRANT INSERT ON sandkeeper.actions TO %[1]s", true},
		"it may become who writes": {"ALTER ROLE %[1]s NOINHERIT; GRANT pg_write_all_data TO %[1]s", true},
	} {
		t.Run(name, func(t *testing.T) {
			login := pgtest.AsRole(t, pool, c.grants).Config().ConnConfig.User
			g := NewLedger(pool, Options{Installation: "test", Clock: atNoon, TasksLogin: login})
			wrong := strings.Join(failing(g.Check(t.Context())), "\n")
			if strings.Contains(wrong, "can write to the ledger; fix: REVOKE ALL") != c.fails || (wrong != "") != c.fails {
				t.Errorf("check says %q, want it to fail: %v", wrong, c.fails)
			}
		})
	}
}

func failing(lines []reconcile.CheckResult) (out []string) {
	for _, l := range lines {
		if !l.OK {
			out = append(out, l.What+": "+l.Said+"; fix: "+l.Fix)
		}
	}
	return out
}
