package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// progressLasts is for how long a history that was read in part may be gone on with: what it tells grows older.
const progressLasts = 7 * 24 * time.Hour

// Progress reads how far a history has been read. [reconcile.ErrNotFound] means not at all, or too long ago, or by
// nobody who has the operator key.
func (g *Proofs) Progress(ctx context.Context, key string) (reconcile.ReadProgress, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return reconcile.ReadProgress{}, err
	}
	type row struct {
		reconcile.ReadProgress
		seal string
	}
	found, err := all(ctx, g.pool, "progress", pgx.StrictNamedArgs{"key": key, "fresh": now.Add(-progressLasts)},
		func(r pgx.Rows) (row, error) {
			p := row{ReadProgress: reconcile.ReadProgress{Key: key}}
			err := r.Scan(at(&p.Since), at(&p.Until), &p.After, &p.Tasks, &p.State, &p.seal)
			return p, err
		})
	if err != nil {
		return reconcile.ReadProgress{}, fmt.Errorf("read how far the history was read: %w", err)
	}
	if len(found) == 0 || !g.seals.Load().Holds(found[0].seal, progressOf(&found[0].ReadProgress)) {
		return reconcile.ReadProgress{}, fmt.Errorf("history read in part: %w", reconcile.ErrNotFound)
	}
	return found[0].ReadProgress, nil
}

// SaveProgress keeps how far a history has been read.
func (g *Proofs) SaveProgress(ctx context.Context, p *reconcile.ReadProgress) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	p.Since, p.Until = p.Since.UTC().Truncate(time.Microsecond), p.Until.UTC().Truncate(time.Microsecond)
	_, err = exec(ctx, g.pool, "progress_put", pgx.StrictNamedArgs{"key": p.Key, "since": p.Since, "until": p.Until,
		"after": p.After, "tasks": p.Tasks, "state": p.State, "now": now, "seal": g.seals.Load().Sign(progressOf(p))})
	if err != nil {
		return fmt.Errorf("save how far the history was read: %w", err)
	}
	return nil
}

// DropProgress forgets a history that was read to its end.
func (g *Proofs) DropProgress(ctx context.Context, key string) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	_, err = exec(ctx, g.pool, "progress_drop", pgx.StrictNamedArgs{"key": key, "fresh": now.Add(-progressLasts)})
	if err != nil {
		return fmt.Errorf("forget how far the history was read: %w", err)
	}
	return nil
}

// progressOf is all of it that a proof may come from.
func progressOf(p *reconcile.ReadProgress) []string {
	sum := sha256.Sum256(p.State)
	micros := func(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }
	return []string{"progress", p.Key, micros(p.Since), micros(p.Until), p.After, strconv.Itoa(p.Tasks),
		hex.EncodeToString(sum[:])}
}
