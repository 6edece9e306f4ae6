package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// column picks one field of each row: a parameter for unnest.
func column[R, V any](rows []R, pick func(R) V) []V {
	values := make([]V, len(rows))
	for i, r := range rows {
		values[i] = pick(r)
	}
	return values
}

// field is column for large rows, of which many are written: none is copied.
func field[R, V any](rows []R, pick func(*R) V) []V {
	values := make([]V, len(rows))
	for i := range rows {
		values[i] = pick(&rows[i])
	}
	return values
}

// stamp is a time as a parameter: null when zero.
func stamp(t time.Time) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}
}

// clean takes out what PostgreSQL's text cannot hold. Providers and task rows may send
// anything; one bad byte must not cost the whole pass its record.
func clean(s string) string {
	return text.Stored(s, "\uFFFD")
}

// cleaned is clean of every element, never nil.
func cleaned(list []string) []string {
	return column(list, clean)
}

// evidence is a list of facts as JSON, [] when there is none.
func evidence(facts []reconcile.Evidence) (string, error) {
	kept := column(facts, func(e reconcile.Evidence) reconcile.Evidence {
		return reconcile.Evidence{Source: clean(e.Source), At: e.At.UTC(), Fact: clean(e.Fact), About: clean(e.About)}
	})
	return jsonText(kept)
}

func jsonText(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", v, err)
	}
	return string(text), nil
}

// lastOf drops rows whose key comes again later: one statement cannot change a row twice,
// and the later one is the newer view.
func lastOf[R any, K comparable](rows []R, key func(R) K) []R {
	last := make(map[K]int, len(rows))
	for i, r := range rows {
		last[key(r)] = i
	}
	if len(last) == len(rows) {
		return rows
	}
	kept := make([]R, 0, len(last))
	for i, r := range rows {
		if last[key(r)] == i {
			kept = append(kept, r)
		}
	}
	return kept
}
