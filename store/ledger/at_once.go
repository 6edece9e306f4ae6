package ledger

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// argument is how queries name what is given to them.
var argument = regexp.MustCompile(`@([a-z_]+)`)

// readAtOnce makes all readings in one statement, and so in one snapshot: a transaction with a statement for each would
// be ten and more, and an open page reads them after every pass. The rows of each are taken as if it had been asked by
// itself.
func readAtOnce(ctx context.Context, q querier, readings []reading) error {
	var text strings.Builder
	args := pgx.StrictNamedArgs{}
	for i, r := range readings {
		if i > 0 {
			text.WriteString("\nUNION ALL\n")
		}
		own := fmt.Sprintf("of%d_", i) // two readings may have different arguments of one name
		fmt.Fprintf(&text, "SELECT %d AS part, row_number() OVER () AS place, taken FROM (\n%s\n) AS taken", i,
			argument.ReplaceAllString(queries[r.query], "@"+own+"$1"))
		for name, value := range r.args {
			args[own+name] = value
		}
	}
	text.WriteString("\nORDER BY part, place")
	rows, err := q.Query(ctx, text.String(), args)
	if err != nil {
		return err
	}
	defer rows.Close()
	parts := &partRows{Rows: rows}
	for i, r := range readings {
		parts.begin(i)
		if err := r.take(parts); err != nil {
			return failed(r.query, err)
		}
	}
	rows.Close()
	return rows.Err()
}

// partRows are the rows of one reading among those of all.
type partRows struct {
	pgx.Rows
	part    int
	fetched bool // a row was read that no reading has taken yet
	of      int  // the reading that it is of
	err     error
}

func (p *partRows) begin(part int) { p.part = part }

// Next reads on until the rows of another reading begin.
func (p *partRows) Next() bool {
	if !p.fetched {
		if p.err != nil || !p.Rows.Next() {
			return false
		}
		if p.err = p.Rows.Scan(&p.of, nil, nil); p.err != nil {
			return false
		}
		p.fetched = true
	}
	if p.of != p.part {
		return false
	}
	p.fetched = false
	return true
}

// Scan reads the columns of the reading, which are one column of the statement.
func (p *partRows) Scan(into ...any) error {
	types := p.Conn().TypeMap()
	row := pgtype.NewCompositeBinaryScanner(types, p.RawValues()[2])
	for i, to := range into {
		if !row.Next() {
			return errors.Join(row.Err(), fmt.Errorf("%d columns are read, want %d", i, len(into)))
		}
		if err := types.Scan(row.OID(), pgtype.BinaryFormatCode, row.Bytes(), to); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return row.Err()
}

// Err says what went wrong.
func (p *partRows) Err() error { return errors.Join(p.err, p.Rows.Err()) }

// Close leaves the rows of the other readings to be read.
func (*partRows) Close() {}
