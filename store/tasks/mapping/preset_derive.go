package mapping

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A special is a state that rows of some statuses have only under a condition.
type special struct {
	Words []string
	where string
	state reconcile.TaskState
}

// stateOfStatus is the state of a row by its status, but for the special ones, which come
// first.
func (m *Mapping) stateOfStatus(status string, specials ...special) string {
	var cases strings.Builder
	when := func(words []string, where string, state reconcile.TaskState) {
		if len(words) > 0 {
			cases.WriteString(" WHEN " + among(status, words) + where + " THEN '" + string(state) + "'")
		}
	}
	for _, s := range specials {
		when(s.Words, " AND "+s.where, s.state)
	}
	for _, state := range TaskStates {
		when(m.Statuses[string(state)], "", state)
	}
	return "(CASE" + cases.String() + " END)"
}

// Beside is another table of the platform, in the schema of the task table.
func (m *Mapping) Beside(name string) string {
	parts, problem := sqltext.Identifier(m.Table)
	if problem != "" || len(parts) != 2 {
		return store.Quoted(name) // what is wrong with the table is said when it is compiled
	}
	return pgx.Identifier{parts[0], name}.Sanitize()
}

// ofTask is a column of the task table with its table, as another query inside needs it.
func (m *Mapping) ofTask(column string) string {
	parts, problem := sqltext.Identifier(m.Table)
	if problem != "" {
		return column // what is wrong with the table is said when it is compiled
	}
	return parts.Sanitize() + "." + column
}

// operand is a mapped column or expression as it stands in another expression; "" when it
// is neither.
func operand(text string) string {
	if sqltext.InParentheses(text) {
		return sqltext.Whole(text)
	}
	parts, problem := sqltext.Identifier(text)
	if problem != "" {
		return ""
	}
	return parts.Sanitize()
}

// among is SQL that looks for a status among words.
func among(status string, words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
	}
	return status + "::text IN (" + strings.Join(out, ", ") + ")"
}
