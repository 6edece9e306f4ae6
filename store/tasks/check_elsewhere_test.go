package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestCheckNamesOtherTables: a role that may write to what no repair needs is warned of, by table and number; one with
// what it needs has no such line.
func TestCheckNamesOtherTables(t *testing.T) {
	const more = `CREATE SCHEMA billing; CREATE TABLE billing.cards (id int); CREATE TABLE billing.hidden (id int);`
	for name, c := range map[string]struct {
		grants, says string
		write        bool
	}{
		"what it needs":              {granted, "", false},
		"read alone":                 {granted + "GRANT USAGE ON SCHEMA billing TO %[1]s; GRANT SELECT ON billing.cards TO %[1]s;", "", false},
		"a schema that it is not in": {granted + "GRANT DELETE ON billing.cards TO %[1]s;", "", false},
		"a column of another table":  {granted + "GRANT UPDATE (status) ON specs TO %[1]s;", "may write to 1 that no repair needs: specs", false},
		"events that it writes":      {granted + "GRANT INSERT ON sandbox_events TO %[1]s;", "", true},
		"events that it does not":    {granted + "GRANT INSERT ON sandbox_events TO %[1]s;", "sandbox_events", false},
		"four": {granted + "GRANT USAGE ON SCHEMA billing TO %[1]s; GRANT INSERT ON billing.cards, specs, tickets, projects TO %[1]s",
			"may write to 4 that no repair needs: billing.cards, projects, specs and others", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := mapping.Mapping{Preset: "omoios"}
			m.Events.Write = c.write
			w := newWorld(t, pgtest.OmoiOS+more, m)
			w.pool = pgtest.AsRole(t, w.pool, c.grants)
			var line reconcile.CheckResult
			for _, l := range w.open(m).Check(t.Context()) {
				if l.What == "other tables" {
					line = l
				}
			}
			if !strings.Contains(line.Said, c.says) || (line.Said == "") != (c.says == "") ||
				(c.says != "" && (!line.OK || !strings.Contains(line.Fix, "REVOKE INSERT"))) {
				t.Errorf("%+v, want %q", line, c.says)
			}
		})
	}
}
