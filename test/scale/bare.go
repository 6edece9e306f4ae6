package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// bareReads reads rows and pages, keeps nothing, and prints how many there were.
func bareReads(ctx context.Context, dsn, url string) error {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("read the rows: %w", err)
	}
	defer db.Close(ctx)
	rows, err := bare.Rows(ctx, db)
	if err != nil {
		return fmt.Errorf("read the rows: %w", err)
	}
	sandboxes, err := bare.Pages(ctx, url)
	if err != nil {
		return fmt.Errorf("read the pages: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(counted{rows, sandboxes})
}
