package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Changed is a text that differs whenever passes, operators or actions have written something. It costs two looks into
// an index.
func (g *Reader) Changed(ctx context.Context) (string, error) {
	found, err := all(ctx, g.pool, "changed", pgx.StrictNamedArgs{}, scanText)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("ask what changed: %w", err)
	}
	return found[0], nil
}
