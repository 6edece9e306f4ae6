package tasks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// unfit reports whether a statement no longer fits the tables, so that the catalog must
// be read again: a column was changed, or an index is gone and a read takes for ever.
func unfit(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	return strings.HasPrefix(e.Code, "42") && e.Code != "42501" || e.Code == "0A000" || e.Code == "57014" ||
		strings.HasPrefix(e.Code, "22")
}

// tookTooLong reports whether a statement met its time-out.
func tookTooLong(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "57014"
}

// plain wraps an error of the task database with a sentence that says what is wrong and,
// where it is known, what fixes it.
func (t *Tasks) plain(doing string, err error) error {
	var e *pgconn.PgError
	var connect *pgconn.ConnectError
	if !errors.As(err, &e) || errors.As(err, &connect) {
		return fmt.Errorf("%s: %w", doing, store.Outage("task", err))
	}
	if said := t.sentence(e); said != "" {
		return fmt.Errorf("%s: %s: %w", doing, said, err)
	}
	return fmt.Errorf("%s: %w", doing, store.Outage("task", err))
}

// plainEvent is plain for an event that could not be added.
func (t *Tasks) plainEvent(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		if said := t.eventSentence(e); said != "" {
			return fmt.Errorf("add a sandkeeper.failed event: %s: %w", said, err)
		}
	}
	return t.plain("add a sandkeeper.failed event", err)
}

// eventSentence explains why the events table took no event, "" where any table could have
// said the same.
func (t *Tasks) eventSentence(e *pgconn.PgError) string {
	switch {
	case e.Code == "42501":
		return t.plan.events.grant(t.pool.Config().ConnConfig.User)
	case e.Code == "23502":
		return fmt.Sprintf("column %q of %s is NOT NULL and is not set: add it to events.set", e.ColumnName, e.TableName)
	case strings.HasPrefix(e.Code, "23"):
		return "a constraint of the events table refused it: correct events.set, or turn events.write off"
	case e.Code == "22001":
		return "a value is too long for its column: shorten what events.set writes"
	case e.Code == "P0001":
		return "a trigger on the events table refused it"
	}
	return ""
}

// grant is what a role needs to add events.
func (e *compiledEvents) grant(role string) string {
	columns := e.written()
	for i, name := range columns {
		columns[i] = store.Quoted(name)
	}
	return fmt.Sprintf("the role %s lacks a privilege: GRANT INSERT (%s) ON %s TO %s", role, strings.Join(columns, ", "),
		e.table, store.Quoted(role))
}

// sentence explains the errors that people meet.
func (t *Tasks) sentence(e *pgconn.PgError) string {
	unknown := e.Code == "42P01" || e.Code == "42883" || e.Code == "42704"
	if creators := t.creatorsLeftOut(); unknown && len(creators) > 0 {
		return "no such name where nobody else may create; not looked up: " + strings.Join(creators, ", ") +
			"; name it with its schema in the config, or REVOKE CREATE ON SCHEMA … FROM them"
	}
	if fix := mappingFix(e); fix != "" {
		return fix + "; `sandkeeper check` names it"
	}
	switch e.Code {
	case "42P01", "3F000":
		return "a mapped table does not exist: correct tasks.table, events.table or tasks.explained_by, " +
			"what tasks.where and tasks.columns read, or the database in tasks.database"
	case "42501":
		return t.grantFix(e)
	case "55P03":
		return "another transaction holds the row or table for longer than the lock_timeout; it is tried again later"
	case "57014":
		return "the statement took longer than the statement_timeout or was cancelled: " +
			"is there an index on the status column, and on the events' sandbox column?"
	case "40001", "40P01":
		return "another transaction was in the way; it is tried again later"
	case "25006":
		return "the task database is read-only (a standby?): point tasks.database at the primary"
	}
	return t.rareSentence(e)
}

// mappingFix is what is wrong with the columns and expressions of the config, where that is it: a check names them, and
// says no more than this.
func mappingFix(e *pgconn.PgError) string {
	switch e.Code {
	case "42703":
		return "a mapped column does not exist: correct tasks.columns, tasks.where, what tasks.fail or tasks.requeue sets, " +
			"or events.columns"
	case "42883":
		return "a mapped expression calls a function, or compares types, that the server does not know so: correct it, or " +
			"cast what it is given"
	case "42846", "42804":
		return "a mapped column has a type that does not fit its field"
	}
	return ""
}

func (t *Tasks) rareSentence(e *pgconn.PgError) string {
	switch e.Code {
	case "22001":
		return "a value is too long for its column: shorten what fail.set or requeue.set writes"
	case "22P02", "22007", "22008":
		return "a value does not read as its field's type; `sandkeeper check` names the column"
	case "22023":
		return fmt.Sprintf(
			"a setting is refused: is tasks.timezone %q a time zone that the server knows?",
			t.plan.mapping.Timezone,
		)
	case "53300":
		return "the task database has no connection left: raise max_connections or lower what else connects"
	case "0A000":
		if strings.Contains(e.Message, "set-returning") {
			return "a mapped expression returns a set, which hides or repeats rows: use one with a single value " +
				"(substring() or regexp_match() for regexp_matches())"
		}
	case "P0001":
		return "a trigger on the task table refused it"
	}
	if strings.HasPrefix(e.Code, "23") {
		return "a constraint of the table refused it: correct fail.status and fail.set, requeue.status and requeue.set"
	}
	return ""
}

// grantFix names the grants that a role needs which may not do something.
func (t *Tasks) grantFix(e *pgconn.PgError) string {
	role := t.pool.Config().ConnConfig.User
	if schema, _, qualified := strings.Cut(t.plan.table, "."); qualified && strings.Contains(e.Message, "schema") {
		return fmt.Sprintf("the role %s lacks a privilege: GRANT USAGE ON SCHEMA %s TO %s", role, schema, store.Quoted(role))
	}
	if further := t.furtherTable(e); further != "" {
		return fmt.Sprintf("the role %s lacks a privilege on what tasks.where or a mapped expression reads: "+
			"GRANT SELECT ON %s TO %s",
			role, further, store.Quoted(role))
	}
	said := fmt.Sprintf("the role %s lacks a privilege: GRANT SELECT ON %s TO %s",
		role, t.plan.reads(), store.Quoted(role))
	if t.plan.events != nil && t.plan.events.table != "" {
		said += fmt.Sprintf("; GRANT SELECT ON %s TO %s", t.plan.events.table, store.Quoted(role))
	}
	if columns := t.plan.written(); len(columns) > 0 {
		said += fmt.Sprintf(
			"; and to repair: GRANT UPDATE (%s) ON %s TO %s",
			strings.Join(columns, ", "),
			t.plan.table,
			store.Quoted(role),
		)
	}
	return said
}

// furtherTable is the table that an error on privileges names when it is neither that of the
// tasks nor that of the events; the server names it without its schema.
func (t *Tasks) furtherTable(e *pgconn.PgError) string {
	name, found := strings.CutPrefix(e.Message, "permission denied for table ")
	if !found {
		name, found = strings.CutPrefix(e.Message, "permission denied for view ")
	}
	if !found {
		return ""
	}
	known := []string{t.plan.reads()}
	if t.plan.events != nil && t.plan.events.table != "" {
		known = append(known, t.plan.events.table)
	}
	for _, table := range known {
		if parts, problem := sqltext.Identifier(table); problem == "" && parts[len(parts)-1] == name {
			return ""
		}
	}
	return store.Quoted(name)
}

// fixOf is the sentence on an error, for a line of a check.
func (t *Tasks) fixOf(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return ""
	}
	if fix := mappingFix(e); fix != "" && len(t.creatorsLeftOut()) == 0 {
		return fix
	}
	return t.sentence(e)
}
