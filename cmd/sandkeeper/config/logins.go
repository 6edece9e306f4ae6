package config

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// logins are how the databases are reached; ok is false without tasks, and where an address cannot be read, which is
// said when it is opened.
func logins(c *Config) (ledger, tasks *pgx.ConnConfig, ok bool) {
	if c.Tasks.None {
		return nil, nil, false
	}
	ledger, err := pgx.ParseConfig(c.Database.Reveal())
	if err != nil {
		return nil, nil, false
	}
	tasks, err = pgx.ParseConfig(c.Tasks.Database.Reveal())
	return ledger, tasks, err == nil
}

// TasksLogin is the login of the tasks where it is another one on the ledger's server, else "": on another server the
// same name is another login.
func (c *Config) TasksLogin() string {
	l, t, ok := logins(c)
	if !ok || t.User == l.User || t.Host != l.Host || t.Port != l.Port {
		return ""
	}
	return t.User
}

// LedgerBeside says what the login of the tasks has to do with the ledger.
func (c *Config) LedgerBeside() tasks.LedgerBeside {
	l, t, ok := logins(c)
	if !ok {
		return tasks.LedgerBeside{}
	}
	return tasks.LedgerBeside{Login: l.User, Unsigned: len(c.OperatorKeys()) == 0 && writesRows(c.Policy()),
		Own: t.User == l.User && t.Host == l.Host && t.Port == l.Port && t.Database == l.Database}
}

// TwoOperators reports whether the page has more than one operator.
func (w *WebConfig) TwoOperators() bool {
	return len(slices.Compact(slices.Sorted(slices.Values(w.Operators)))) > 1
}

// writesRows reports whether a rule that acts writes rows.
func writesRows(p reconcile.Policy) bool {
	if !p.Tasks.FailsRows && !p.Tasks.Requeues {
		return false
	}
	for _, r := range p.Rules {
		if r.Mode == reconcile.Enforce && (r.Remedy == reconcile.Fail || r.Remedy == reconcile.Requeue) {
			return true
		}
	}
	return false
}
