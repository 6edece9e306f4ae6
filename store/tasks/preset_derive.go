package tasks

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// A special is a state that rows of some statuses have only under a condition.
type special struct {
	words []string
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
		when(s.words, " AND "+s.where, s.state)
	}
	for _, state := range taskStates {
		when(m.Statuses[string(state)], "", state)
	}
	return "(CASE" + cases.String() + " END)"
}

// beside is another table of the platform, in the schema of the task table.
func (m *Mapping) beside(name string) string {
	parts, problem := identifier(m.Table)
	if problem != "" || len(parts) != 2 {
		return store.Quoted(name) // what is wrong with the table is said when it is compiled
	}
	return pgx.Identifier{parts[0], name}.Sanitize()
}

// ofTask is a column of the task table with its table, as another query inside needs it.
func (m *Mapping) ofTask(column string) string {
	parts, problem := identifier(m.Table)
	if problem != "" {
		return column // what is wrong with the table is said when it is compiled
	}
	return parts.Sanitize() + "." + column
}

// operand is a mapped column or expression as it stands in another expression; "" when it
// is neither.
func operand(text string) string {
	if inParentheses(text) {
		return whole(text)
	}
	parts, problem := identifier(text)
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
