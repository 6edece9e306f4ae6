package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// CreateToken makes a token and returns its secret, which nobody sees again.
func (g *Operators) CreateToken(ctx context.Context, t reconcile.Token,
) (secret string, made reconcile.Token, err error) {
	secret, t.ID, t.Hash = reconcile.NewSecret()
	t.User, t.Author, t.Reason = clean(t.User), clean(t.Author), clean(t.Reason)
	by := reconcile.Attribution{Author: t.Author, Reason: t.Reason}
	err = g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if err := protocol.CheckToken(t, now); err != nil {
			return nil, err
		}
		t.At, t.Until = now.Truncate(time.Microsecond), t.Until.Truncate(time.Microsecond)
		t.Seal = g.seals.Load().Sign(protocol.TokenOf(&t))
		_, err := exec(ctx, tx, "token_add", pgx.StrictNamedArgs{
			"id": t.ID, "user": t.User, "scope": string(t.Scope), "hash": t.Hash, "author": t.Author, "reason": t.Reason,
			"now": t.At, "until": t.Until, "seal": t.Seal,
		})
		what := fmt.Sprintf("token for %s made, scope %s%s", t.User, t.Scope, protocol.Until(t.Until))
		return []line{{"token:" + t.ID, what}}, err
	})
	if err != nil {
		return "", t, fmt.Errorf("make a token: %w", err)
	}
	return secret, t, nil
}

// Tokens reads all tokens, newest first. None has its secret.
func (g *Reader) Tokens(ctx context.Context) ([]reconcile.Token, error) {
	found, err := all(ctx, g.pool, "tokens", nil, scanToken)
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	return found, nil
}

// RevokeToken takes a token back, from the next request on. [reconcile.ErrNotFound] means that none of this id counts.
func (g *Operators) RevokeToken(ctx context.Context, id string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		err := counted(ctx, tx, "token_revoke", pgx.StrictNamedArgs{"id": clean(id), "now": now}, reconcile.ErrNotFound)
		return []line{{"token:" + id, "token revoked"}}, err
	})
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	return nil
}

// TokenShown reads the token of a secret that somebody shows. [reconcile.ErrNotFound] means that it counts for nothing.
func (g *Reader) TokenShown(ctx context.Context, secret string) (reconcile.Token, error) {
	id := reconcile.SecretID(secret)
	if id == "" {
		return reconcile.Token{}, fmt.Errorf("what was shown is no token: %w", reconcile.ErrNotFound)
	}
	now, err := g.Now(ctx)
	if err != nil {
		return reconcile.Token{}, err
	}
	found, err := all(ctx, g.pool, "token_of", pgx.StrictNamedArgs{"id": clean(id)}, scanToken)
	if err != nil {
		return reconcile.Token{}, fmt.Errorf("read token: %w", err)
	}
	why := "there is none of this id"
	if len(found) == 1 {
		why = g.seals.Load().Admits(&found[0], secret, now)
	}
	if why != "" {
		return reconcile.Token{}, fmt.Errorf("the token does not count: %s: %w", why, reconcile.ErrNotFound)
	}
	return found[0], nil
}

func scanToken(r pgx.Rows) (reconcile.Token, error) {
	var t reconcile.Token
	err := r.Scan(&t.ID, &t.User, (*string)(&t.Scope), &t.Hash, &t.Author, &t.Reason, at(&t.At), at(&t.Until), &t.Seal,
		at(&t.Revoked))
	return t, err
}
