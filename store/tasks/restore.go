package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

var _ reconcile.Restorer = (*Tasks)(nil)

// Restore sets a row back to what it was before our own write: all of its columns or none.
// It happens only while the row has the version that our write gave it and carries that
// write's mark, which is what allows a terminal row to be written at all. A row that is
// already as it was before counts as done, so that it may be asked for again.
func (t *Tasks) Restore(ctx context.Context, id string, before reconcile.RowBefore) (reconcile.Written, error) {
	written := reconcile.WriteMoved
	err := t.begin(ctx, taskWrite, func(tx pgx.Tx, _ time.Time) error {
		s, err := t.statements(ctx, tx)
		if err != nil {
			return err
		}
		key, ok := s.cat.fields["id"].canonical(id)
		if !ok {
			return nil // an id that is none of this table names no row
		}
		r, err := s.restoration(key, before)
		if err != nil {
			return err
		}
		written, err = r.run(ctx, tx)
		return err
	})
	if err != nil {
		return "", t.plain("restore task "+id, err)
	}
	return written, nil
}

// A restoration is one row on its way back.
type restoration struct {
	s      *statements
	id     string
	status string // that the row gets back
	with   restored
	args   pgx.StrictNamedArgs
}

// Restored is what the statements of a restoration are filled with.
type restored struct {
	Table, ID, State string
	Columns          []restoredColumn
	Marked           []string // columns that our write put its reason into
}

type restoredColumn struct{ Name, Value string }

func (s *statements) restoration(key string, before reconcile.RowBefore) (*restoration, error) {
	if before.After == "" || before.Mark == "" {
		return nil, errors.New("the ledger does not know our write's version and mark: set the row back by hand")
	}
	if s.plan.from.apart {
		return nil, errors.New("tasks.from is no table whose row has a version: set the row back by hand")
	}
	g := s.guard(&reconcile.Write{})
	r := &restoration{s: s, id: key, args: pgx.StrictNamedArgs{"id": key},
		with: restored{Table: g.Table, ID: g.ID, State: s.stateSQL()}}
	for i, name := range slices.Sorted(maps.Keys(before.Columns)) {
		if err := r.add(name, "before_"+strconv.Itoa(i), before.Columns[name]); err != nil {
			return nil, err
		}
	}
	if len(r.with.Marked) == 0 {
		return nil, errors.New("no column that held the reason is known any more: set the row back by hand")
	}
	r.args["after"], r.args["mark"] = before.After, before.Mark
	return r, nil
}

// add sets one column back. One that sandkeeper does not write by its present config is
// refused: nobody has granted it, and a part of the row is not the row.
func (r *restoration) add(name, parameter string, value *string) error {
	if !slices.Contains(r.s.plan.writtenNames(), name) {
		return fmt.Errorf("our write set the column %q, which tasks.fail and tasks.requeue no longer name: "+
			"set the row back by hand", name)
	}
	kind := r.s.cat.sets[name]
	if name == r.s.plan.plain["status"] && value != nil {
		kind, r.status = r.s.cat.fields["status"], *value
	}
	r.args[parameter] = value
	r.with.Columns = append(r.with.Columns, restoredColumn{store.Quoted(name), "@" + parameter + "::text::" + kind.name})
	for _, ch := range r.s.plan.changes {
		for _, a := range ch.sets {
			if a.name == name && a.reason && !slices.Contains(r.with.Marked, a.Column) {
				r.with.Marked = append(r.with.Marked, a.Column)
			}
		}
	}
	return nil
}

func (r *restoration) run(ctx context.Context, tx pgx.Tx) (reconcile.Written, error) {
	sql, err := render("restore", r.with)
	if err != nil {
		return "", err
	}
	after, err := writeOne(ctx, tx, sql, r.args)
	switch {
	case err != nil:
		return "", err
	case after == nil:
		return r.look(ctx, tx)
	case !r.s.plan.stateOf(after.State, after.State).Live():
		return "", fmt.Errorf("after the write the row would be %q, which is not live: look at the trigger on the table; "+
			"nothing was written", after.State)
	}
	facts := map[string]string{"task": r.id, "status": r.status, "step": string(reconcile.StepRestore)}
	return reconcile.WriteDone, r.s.notify(ctx, tx, facts)
}

// look says whether the row is as it was before without our doing, or moved.
func (r *restoration) look(ctx context.Context, tx pgx.Tx) (reconcile.Written, error) {
	sql, err := render("restored", r.with)
	if err != nil {
		return "", err
	}
	delete(r.args, "after")
	delete(r.args, "mark")
	var same bool
	err = tx.QueryRow(ctx, sql, r.args).Scan(&same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return reconcile.WriteMoved, nil
	case err != nil:
		return "", err
	case same:
		return reconcile.WriteDone, nil
	}
	return reconcile.WriteMoved, nil
}
