package tasks

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/store"
)

// eventsEach is from how many events on average a key's are read from type to type, where an index has them so: that
// takes as many steps as there are types, each of which costs as much as several events that lie together.
const eventsEach = 30

// byType are what an index has to begin with so that events are read from type to type; nil where they are not: where
// one of them is no column or is of another type, or where an event's type does not tell whether it is a heartbeat.
func (e *compiledEvents) byType(events map[string]columnType) []string {
	columns := []string{e.key(), e.plain["type"], e.plain["at"]}
	for _, c := range columns {
		if c == "" {
			return nil
		}
	}
	either := len(e.narrowed["heartbeat"]) > 0
	if e.source != e.table || either || !events["type"].text() || events["at"].oid != pgtype.TimestamptzOID {
		return nil
	}
	return columns
}

// readKinds reads whether events are to be read from type to type.
func (cat *catalog) readKinds(ctx context.Context, tx pgx.Tx, e *compiledEvents) error {
	columns := e.byType(cat.events)
	if columns == nil {
		return nil
	}
	args := pgx.StrictNamedArgs{"relation": e.table, "columns": columns}
	if err := tx.QueryRow(ctx, queries["kinds"], args).Scan(&cat.eventsEach, &cat.typeIndex); err != nil {
		return fmt.Errorf("read the indexes of %s: %w", e.table, err)
	}
	return nil
}

// fromTypeToType reports whether the events of a row are read so.
func (s *statements) fromTypeToType(src *eventSource) bool {
	return src.Indexed && src.Task == "" && s.cat.typeIndex && s.cat.eventsEach >= eventsEach
}

// loosely has the events read from type to type: the newest of each type stands for all of them, and where a type means
// something under a condition alone, the newest for which that holds beside it.
func (src *eventSource) loosely(e *compiledEvents) {
	plain := *e
	plain.narrowed = nil
	for _, kind := range eventKinds {
		for _, n := range e.narrowed[kind] {
			only := *src
			only.Only, only.If = store.Literal(n.typ), e.onlyIf(n)
			src.Narrowed = append(src.Narrowed, only)
		}
	}
	src.Loose, src.TypeColumn, src.Columns = true, store.Quoted(e.plain["type"]),
		strings.Join([]string{store.Quoted(e.plain["type"]), store.Quoted(e.plain["at"])}, ", ")
	src.Started, src.Heartbeat = plain.is("started"), plain.is("heartbeat")
	src.Waiting, src.Finished = plain.is("waiting"), plain.is("finished")
}
