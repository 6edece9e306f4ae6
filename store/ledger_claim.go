package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// Claim takes the right to carry out an action. All claims queue for one row lock, so what
// one of them counts is still true when it is written, whatever other processes do.
func (g *Ledger) Claim(ctx context.Context, l reconcile.Lease, c reconcile.Claim) (reconcile.Action, error) {
	var claimed reconcile.Action
	err := g.fenced(ctx, l, func(tx pgx.Tx, now time.Time) error {
		request, err := readRequest(ctx, tx, c, now)
		if err != nil {
			return err
		}
		request.Epoch = l.Epoch
		if err := request.Refuse(c, now); err != nil {
			return err
		}
		claimed, err = takeClaim(ctx, tx, l, c, now, request)
		return err
	})
	if err != nil {
		return reconcile.Action{}, fmt.Errorf("claim action %s: %w", c.Action, err)
	}
	return claimed, nil
}

// readRequest reads what decides a claim, under the lock of all claims.
func readRequest(ctx context.Context, tx pgx.Tx, c reconcile.Claim, now time.Time) (ledger.Request, error) {
	var r ledger.Request
	if _, err := exec(ctx, tx, "ledger_budget_lock", nil); err != nil {
		return r, err
	}
	id := pgx.StrictNamedArgs{"id": c.Action}
	row := tx.QueryRow(ctx, queries["ledger_claim_action"], id)
	err := scanActionAnd(row, &r.Action, &r.ClaimEpoch, &r.Begun, &r.Shares)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, reconcile.ErrNotFound
	}
	if err != nil {
		return r, failed("ledger_claim_action", err)
	}
	if r.Earlier, err = all(ctx, tx, "ledger_claim_earlier", id, scanAction); err != nil || !r.Begins() {
		return r, err
	}
	err = one(ctx, tx, "ledger_claim_spent", pgx.StrictNamedArgs{
		"pass": c.Pass, "hour_ago": now.Add(-ledger.Hour),
	}, &r.Spent.Total, &r.Spent.Shared, &r.Spent.Hour)
	return r, err
}

func takeClaim(ctx context.Context, tx pgx.Tx, l reconcile.Lease, c reconcile.Claim, now time.Time,
	r ledger.Request) (reconcile.Action, error) {
	row := tx.QueryRow(ctx, queries["ledger_claim_take"], pgx.StrictNamedArgs{
		"id": c.Action, "holder": l.Holder, "epoch": l.Epoch, "now": now, "ends": now.Add(c.TTL),
		"begins": r.Begins(), "pass": c.Pass, "shares": r.Shares,
	})
	var claimed reconcile.Action
	if err := scanActionAnd(row, &claimed); err != nil {
		return claimed, failed("ledger_claim_take", err)
	}
	return claimed, nil
}

// RenewClaim extends a claim that still stands.
func (g *Ledger) RenewClaim(ctx context.Context, l reconcile.Lease, a reconcile.Action, ttl time.Duration) error {
	err := g.fenced(ctx, l, func(tx pgx.Tx, now time.Time) error {
		return counted(ctx, tx, "ledger_claim_renew", pgx.StrictNamedArgs{
			"id": a.ID, "holder": l.Holder, "epoch": l.Epoch, "attempts": a.Attempts,
			"now": now, "ends": now.Add(ttl),
		}, ledger.ClaimLost(a))
	})
	if err != nil {
		return fmt.Errorf("renew claim of action %s: %w", a.ID, err)
	}
	return nil
}

// Settle writes what became of a claimed action and frees the claim. It works for as long
// as nobody has taken the lease or the claim over, also when both have run out: what was
// done outside must not stay unwritten.
func (g *Ledger) Settle(ctx context.Context, l reconcile.Lease, a reconcile.Action) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	err = ledger.CheckOutcome(a.Outcome)
	if err == nil {
		err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error { return settle(ctx, tx, l, a, now) })
	}
	if err != nil {
		return fmt.Errorf("settle action %s as %s: %w", a.ID, a.Outcome, err)
	}
	return nil
}

func settle(ctx context.Context, tx pgx.Tx, l reconcile.Lease, a reconcile.Action, now time.Time) error {
	args := pgx.StrictNamedArgs{"holder": l.Holder, "epoch": l.Epoch}
	if err := fence(ctx, tx, "ledger_fence_same", l, args); err != nil {
		return err
	}
	settled, err := settleAction(ctx, tx, l, a, now)
	if err != nil {
		return err
	}
	ended := []reconcile.Action{settled}
	if why := ledger.EndsRemedy(settled); why != "" {
		later, err := all(ctx, tx, "ledger_settle_later", pgx.StrictNamedArgs{
			"remedy": settled.Remedy, "seq": settled.Seq, "detail": why, "now": now,
		}, scanAction)
		if err != nil {
			return err
		}
		ended = append(ended, later...)
	}
	if err := settleSandbox(ctx, tx, settled, now); err != nil {
		return err
	}
	told := putEvents(column(ended, func(e reconcile.Action) reconcile.TimelineEvent {
		return reconcile.TimelineEvent{At: now, Subject: e.Subject, Kind: "action", What: ledger.Told(e)}
	}))
	_, err = exec(ctx, tx, told.query, told.args)
	return err
}

func settleAction(ctx context.Context, tx pgx.Tx, l reconcile.Lease, a reconcile.Action, now time.Time,
) (reconcile.Action, error) {
	facts, err := evidence(a.Evidence)
	if err != nil {
		return a, err
	}
	row := tx.QueryRow(ctx, queries["ledger_settle_action"], pgx.StrictNamedArgs{
		"id": a.ID, "holder": l.Holder, "epoch": l.Epoch, "attempts": a.Attempts,
		"outcome": string(a.Outcome), "detail": clean(a.Detail), "evidence": facts,
		"acted_at": stamp(a.ActedAt), "next_attempt": stamp(a.NextAttempt), "now": now,
		"closed": a.Outcome.Closed(), "gives_back": ledger.GivesBack(a),
	})
	var settled reconcile.Action
	err = scanActionAnd(row, &settled)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, ledger.ClaimLost(a)
	}
	if err != nil {
		return a, failed("ledger_settle_action", err)
	}
	return settled, nil
}

func settleSandbox(ctx context.Context, tx pgx.Tx, a reconcile.Action, now time.Time) error {
	if !ledger.EndsSandbox(a) {
		return nil
	}
	_, err := exec(ctx, tx, "ledger_settle_sandbox", pgx.StrictNamedArgs{
		"provider": a.Provider, "sandbox": a.Sandbox, "now": now,
	})
	return err
}
