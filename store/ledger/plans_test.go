package ledger

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// grows finds in a plan that a table is read whole which grows with history.
var grows = regexp.MustCompile(
	`Seq Scan on (findings|actions|timeline|passes|probes|task_states|sandboxes|verdicts|incidents|notices)\b`)

// whole are the statements that may read such a table, each with the reason.
var whole = map[string]string{
	"browse_incidents": "of many failures one cause is left: there are few",
	"browse_totals":    "it counts the table, for a page that somebody opens",
	"report_findings":  "when each rule first found something, for a report that somebody asks for",
}

// TestEveryStatementHasAnIndex looks at the plan of each statement for any values, on a server that reads a whole table
// only where no index serves.
func TestEveryStatementHasAnIndex(t *testing.T) {
	g := aged(t, 50)
	c, err := g.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	const simply = pgx.QueryExecModeSimpleProtocol
	do := func(name, sql string) {
		if _, err := c.Exec(t.Context(), sql, simply); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	do("plans", "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan")
	for name, sql := range queries {
		text, args, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), c.Conn(), sql, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		do(name, "PREPARE looked AS "+text)
		values := ""
		if len(args) > 0 {
			values = "(NULL" + strings.Repeat(", NULL", len(args)-1) + ")"
		}
		rows, err := c.Query(t.Context(), "EXPLAIN EXECUTE looked"+values, simply)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plan, err := drain(rows, scanText)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		do(name, "DEALLOCATE looked")
		if reads := grows.MatchString(strings.Join(plan, "\n")); reads != (whole[name] != "") {
			t.Errorf("%s reads a whole table: %t\n%s", name, reads, strings.Join(plan, "\n"))
		}
	}
}
