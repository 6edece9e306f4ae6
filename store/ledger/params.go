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

// Picked is one field of many rows as a parameter for unnest. Each value is made when it is encoded, in the place of
// the one before: lists of them, and a copy of each on its way into the statement, were much of what a first pass
// allocated.
type picked[R, V any] struct {
	rows []R
	pick func(*R) V
	one  V
}

// field picks one field of each row, of which many are written. V is a type of pgtype: these are encoded where they
// are.
func field[R, V any](rows []R, pick func(*R) V) *picked[R, V] {
	return &picked[R, V]{rows: rows, pick: pick}
}

// Dimensions says how many there are.
func (p *picked[R, V]) Dimensions() []pgtype.ArrayDimension {
	//nolint:gosec // a statement writes few thousand rows
	return []pgtype.ArrayDimension{{Length: int32(len(p.rows)), LowerBound: 1}}
}

// Index is the value of a row, until that of another one is asked for.
func (p *picked[R, V]) Index(i int) any {
	p.one = p.pick(&p.rows[i])
	return &p.one
}

// IndexType is what [picked.Index] returns.
func (p *picked[R, V]) IndexType() any { return new(V) }

// words is a text as a parameter.
func words(s string) pgtype.Text { return pgtype.Text{String: s, Valid: true} }

// number is a whole number as a parameter; of a sum it is the bits, which are read back the same way.
func number[N ~int64 | ~uint64](n N) pgtype.Int8 { return pgtype.Int8{Int64: int64(n), Valid: true} }

func yes(is bool) pgtype.Bool { return pgtype.Bool{Bool: is, Valid: true} }

func size(n float64) pgtype.Float8 { return pgtype.Float8{Float64: n, Valid: true} }

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

// distrust is why a source is not trusted as JSON, {} of one that is.
func distrust(d reconcile.Distrust) string {
	for _, words := range []*string{&d.Task, &d.From, &d.To, &d.Key, &d.Said, &d.OldSentence} {
		*words = clean(*words)
	}
	text, _ := jsonText(d) // texts and numbers, which are never refused
	return text
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
