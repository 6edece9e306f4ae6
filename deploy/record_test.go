package deploy

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestTheKeeperCannotRewriteTheRecord: with the keeper's password nothing of the record is changed or deleted,
// however one tries, whether the grants ran before the migration or again after it; the program itself works on.
func TestTheKeeperCannotRewriteTheRecord(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.grant()
	p.logins()
	p.works("owner", "migrate")
	p.must(`INSERT INTO program.tasks (status, created_at, updated_at)
		VALUES ('completed', now() - interval '2 hours', now() - interval '1 hour')`)
	p.rewrites()
	p.grant()
	p.rewrites()
}

// rewrites tries all that would change the record, after something of each kind is in it.
func (p *platform) rewrites() {
	p.Helper()
	leaked := p.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour), Labels: map[string]string{"project": "omoios"}})
	for _, args := range [][]string{
		{"pause", "rule:orphan", "--reason", "a test"}, {"hold", "task:t", "--reason", "a test"},
		{"mode", "orphan", "observe", "--reason", "a test"}, {"terminate", leaked.ID, "--reason", "a test"},
		{"once"}, {"resume", "rule:orphan"}, {"unhold", "task:t"}, {"mode", "orphan", "clear"},
	} {
		p.works("keeper", args...)
	}
	keeper := p.connect("keeper")
	for _, sql := range []string{
		"UPDATE sandkeeper.timeline SET what = ''", "DELETE FROM sandkeeper.timeline", "TRUNCATE sandkeeper.timeline",
		"UPDATE sandkeeper.timeline_links SET hash = ''", "DELETE FROM sandkeeper.timeline_links",
		"INSERT INTO sandkeeper.timeline_links VALUES (9, '{}', '{}', '')", "UPDATE sandkeeper.timeline_chain SET keeps = NULL",
		"DELETE FROM sandkeeper.timeline_chain", "ALTER TABLE sandkeeper.timeline DISABLE TRIGGER USER",
		"DROP TRIGGER timeline_link ON sandkeeper.timeline", "ALTER TABLE sandkeeper.actions DISABLE TRIGGER actions_stay",
		"UPDATE sandkeeper.modes SET mode = 'config'", "DELETE FROM sandkeeper.modes",
		"UPDATE sandkeeper.arms SET armed = true", "DELETE FROM sandkeeper.arms",
		"UPDATE sandkeeper.learned SET after_us = 1", "DELETE FROM sandkeeper.learned",
		"INSERT INTO sandkeeper.proof_grace VALUES ('orphan', now() + interval '1 year')", "UPDATE sandkeeper.proof_grace SET until = now()",
		"UPDATE sandkeeper.releases SET subjects = '{x}'", "UPDATE sandkeeper.holds SET target = 'task:u'",
		"UPDATE sandkeeper.holds SET until = now()", "UPDATE sandkeeper.pauses SET scope = 'rule:x', at = now()",
		"UPDATE sandkeeper.actions SET sandbox = 'other'", "UPDATE sandkeeper.actions SET author = 'ana'",
		"UPDATE sandkeeper.actions SET planned_at = now()", "UPDATE sandkeeper.actions SET seal = ''",
		"SELECT sandkeeper.keep_record()",
	} {
		p.refused(keeper, sql)
	}
	const raised = "P0001"
	for _, sql := range []string{
		"UPDATE sandkeeper.actions SET outcome = 'pending', closed_at = NULL", "DELETE FROM sandkeeper.actions",
		"DELETE FROM sandkeeper.holds", "DELETE FROM sandkeeper.pauses",
	} {
		if code := p.try(keeper, sql); code != raised {
			p.Errorf("%s ends with %q, want it refused with %s", sql, code, raised)
		}
	}
	p.windsBack(keeper)
	if _, err := keeper.Exec(p.Context(), "SELECT sandkeeper.purge_timeline(now() + interval '1 year', 1000000)"); err != nil {
		p.Fatal(err)
	}
	if got := p.works("reader", "audit", "verify"); !strings.Contains(got, "the record is whole") || strings.Contains(got, "deleted by retention") {
		p.Errorf("audit verify: %s", got)
	}
}

// windsBack tries, with the keeper's password, to date actions back and delete them, to take them out of the budgets,
// and to change or forgive what was wrong.
func (p *platform) windsBack(keeper *pgx.Conn) {
	p.Helper()
	const action = `INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step,
		reason, evidence, row_only, outcome, closed_at, begun_at) SELECT u.id, u.id, 0, 1, 'orphan', u.id, 'daytona', u.id, '',
		'terminate', '', '[]', false, u.outcome, u.closed_at, u.begun_at FROM (VALUES `
	const verdict = `INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error,
		signature, reason, at, late_us, attempt, enforced, cost, per_hour, acted_at, regret_at, regret) VALUES
		('orphan', 's', '', '', '', '', '', '', '', '', '', '2001-01-01', 0, 1, true, 0, 0, now(), now(), 'it lived')`
	const raised, denied = "P0001", "42501"
	bornOld := action + `('a', 'confirmed', timestamptz '2001-01-01', timestamptz '2001-01-01')) u (id, outcome, closed_at, begun_at);`
	open := action + `('b', 'pending', NULL::timestamptz, NULL::timestamptz)) u (id, outcome, closed_at, begun_at);`
	begun := open + "UPDATE sandkeeper.actions SET begun_at = '2001-01-01', attempts = 1 WHERE id = 'b';"
	ended := begun + "UPDATE sandkeeper.actions SET outcome = 'failed', closed_at = '2001-01-01' WHERE id = 'b';"
	for _, try := range []struct{ sql, want string }{
		{bornOld + "DELETE FROM sandkeeper.actions WHERE id = 'a'", raised},
		{ended + "DELETE FROM sandkeeper.actions WHERE id = 'b'", raised},
		{begun + "UPDATE sandkeeper.actions SET begun_at = '2001-01-01' WHERE id = 'b'", raised},
		{begun + "UPDATE sandkeeper.actions SET begun_at = NULL WHERE id = 'b'", raised},
		{begun + "UPDATE sandkeeper.actions SET begun_pass = 7 WHERE id = 'b'", raised},
		{begun + "UPDATE sandkeeper.actions SET attempts = 0 WHERE id = 'b'", raised},
		{bornOld + ended + `DO $do$ BEGIN ASSERT 2 = (SELECT count(*) FROM sandkeeper.actions WHERE id IN ('a', 'b')
			AND begun_at > now() - interval '1 hour' AND closed_at > now() - interval '1 hour'); END $do$`, ""},
		{begun + `UPDATE sandkeeper.actions SET begun_at = NULL, outcome = 'withdrawn', closed_at = now() WHERE id = 'b'`, ""},
		{verdict + "; DELETE FROM sandkeeper.verdicts", raised},
		{verdict + "; UPDATE sandkeeper.verdicts SET regret_at = NULL", raised},
		{verdict + "; UPDATE sandkeeper.verdicts SET acted_at = NULL", raised},
		{verdict + "; UPDATE sandkeeper.verdicts SET enforced = false", raised},
		{"UPDATE sandkeeper.verdicts SET rule = 'duplicate'", denied}, {"UPDATE sandkeeper.verdicts SET at = '2001-01-01'", denied},
		{"INSERT INTO sandkeeper.armings VALUES ('x', 9)", raised}, {"DELETE FROM sandkeeper.armings", denied},
		{"INSERT INTO sandkeeper.armings VALUES ('x', 0); UPDATE sandkeeper.armings SET after = 9 WHERE rule = 'x'", raised},
	} {
		if got := p.try(keeper, try.sql); got != try.want {
			p.Errorf("%s ends with %q, want %q", try.sql, got, try.want)
		}
	}
}
