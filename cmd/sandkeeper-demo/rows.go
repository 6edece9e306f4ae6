package main

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed queries/*.sql
var demoQueries embed.FS

// do carries out one of the platform's statements, by the name of its file.
func (s *demoStage) do(ctx context.Context, query string, args pgx.StrictNamedArgs) error {
	text, err := demoQueries.ReadFile("queries/" + query + ".sql")
	if err != nil {
		return fmt.Errorf("read the demo's query %s: %w", query, err)
	}
	if _, err := s.pool.Exec(ctx, string(text), args); err != nil {
		return fmt.Errorf("let the platform do %s: %w", query, err)
	}
	return nil
}

// A demoRow is a task as the audit sees it.
type demoRow struct{ ID, Status, Error string }

// rows reads tasks for the audit, by id: those that are asked for, and all that failed
// since the demo began.
func (s *demoStage) rows(ctx context.Context, ids []string) (map[string]demoRow, error) {
	text, err := demoQueries.ReadFile("queries/tasks_read.sql")
	if err != nil {
		return nil, fmt.Errorf("read the demo's query tasks_read: %w", err)
	}
	rows, err := s.pool.Query(ctx, string(text), pgx.StrictNamedArgs{"ids": ids, "since": s.began})
	if err != nil {
		return nil, fmt.Errorf("read the demo's tasks: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[demoRow])
	if err != nil {
		return nil, fmt.Errorf("read the demo's tasks: %w", err)
	}
	byID := make(map[string]demoRow, len(list))
	for _, r := range list {
		byID[r.ID] = r
	}
	return byID, nil
}
