package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store"
)

// LedgerBeside is what the config says of the ledger, for what others could do to it as this login.
type LedgerBeside struct {
	Login    string // of the ledger; "" where nothing else is known of it
	Own      bool   // the same login in the same database: it reaches the ledger, or will
	Unsigned bool   // rules write rows, and what operators ask for needs no signature
}

// Beside says how the ledger is reached, for [Tasks.Check] and [Tasks.RefusePlanted].
func (t *Tasks) Beside(l LedgerBeside) { t.ledger = l }

// A ledgerReach is what others could do to the ledger as our login.
type ledgerReach struct {
	reaches  bool
	planted  []string // what of others runs with what a repair reads and writes
	stranger string   // who owns the table, where that is neither this login nor a superuser; "" else
}

func (t *Tasks) ledgerReach(ctx context.Context, tx pgx.Tx) (r ledgerReach, err error) {
	args := pgx.StrictNamedArgs{"relation": t.plan.tableOrNull(), "own": t.ledger.Own}
	return r, tx.QueryRow(ctx, queries["reach"], args).Scan(&r.reaches, &r.planted, &r.stranger)
}

// said is who could write to the ledger as this login, and by what.
func (r *ledgerReach) said(table string) string {
	return "this login can write to it, and so can whoever owns " + table + ", by a trigger that our writes run" +
		r.others()
}

// others names what of others runs with our writes; "" where nothing does.
func (r *ledgerReach) others() string {
	if len(r.planted) == 0 {
		return ""
	}
	return "; what of others runs: " + strings.Join(r.planted, ", ")
}

// refused is why that is no way to act; "" where it may be.
func (r *ledgerReach) refused(t *Tasks) string {
	switch login := t.pool.Config().ConnConfig.User; {
	case !r.reaches:
		return ""
	case t.ledger.Login != "" && t.ledger.Login != login:
		return login + " is a login for the tasks alone, and should not reach it"
	case t.ledger.Unsigned && r.stranger != "":
		return "the table is owned by " + r.stranger + ", rules of the config write to it, and there is no operator_key_file"
	case t.ledger.Unsigned && len(r.planted) > 0:
		return "rules of the config write to the table, and there is no operator_key_file"
	}
	return ""
}

const (
	ownLogin    = "another login for tasks.database than for database, better also another database"
	ownLoginKey = ownLogin + "; or give operator_key_file"
)

// reach warns where what others run in this login's name, as a trigger of the task table, could write to the ledger
// and so ask for something in an operator's name. It fails where nothing is left to keep somebody from that: rules
// write rows, the table or what runs with it is a stranger's, and what operators ask for needs no signature; or where
// the login was made to keep them apart.
func (c *check) reach(ctx context.Context) {
	var r ledgerReach
	if !c.step(ctx, "ledger", func(tx pgx.Tx, _ time.Time) (err error) {
		r, err = c.ledgerReach(ctx, tx)
		return err
	}) {
		return
	}
	if !r.reaches {
		c.ok("ledger", "this login does not reach it"+r.others())
		return
	}
	said := r.said(c.plan.table)
	if why := r.refused(c.Tasks); why != "" {
		c.bad("ledger", said+"; "+why, ownLoginKey)
		return
	}
	c.warn("ledger", said, ownLogin)
}

// RefusePlanted is an error where [Tasks.Check] would fail for what others could do to the ledger as this login.
func (t *Tasks) RefusePlanted(ctx context.Context) error {
	var r ledgerReach
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) (err error) {
		r, err = t.ledgerReach(ctx, tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("look who else reaches the ledger by %s: %s", t.plan.table, store.OneLine(err))
	}
	if why := r.refused(t); why != "" {
		return errors.New(r.said(t.plan.table) + "; " + why + "; fix: " + ownLoginKey)
	}
	return nil
}
