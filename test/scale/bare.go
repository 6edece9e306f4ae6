package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// bareSQL is what anybody would write to read the live tasks with their newest events.
const bareSQL = `
SELECT t.id::text, t.status, t.sandbox_id, t.conversation_id, t.created_at, t.updated_at, t.started_at, t.deadline_at,
       t.timeout_seconds, t.retry_count, t.max_retries, t.error_message, t.xmin::text,
       e.started, e.activity, e.heartbeat, e.waiting, e.finished
FROM tasks t LEFT JOIN LATERAL (
    SELECT max(created_at) FILTER (WHERE event_type = 'agent.started') AS started,
           max(created_at) FILTER (WHERE event_type <> 'agent.heartbeat') AS activity,
           max(created_at) FILTER (WHERE event_type = 'agent.heartbeat') AS heartbeat,
           max(created_at) FILTER (WHERE event_type = 'agent.waiting') AS waiting,
           max(created_at) FILTER (WHERE event_type = 'agent.completed') AS finished
    FROM sandbox_events e WHERE e.sandbox_id = t.sandbox_id
) e ON true
WHERE t.status IN ('pending', 'assigned', 'claiming', 'running')`

// A bareItem has the fields of a listed sandbox that anybody would decode.
type bareItem struct {
	ID, Name, State, DesiredState, Snapshot, Target, ErrorReason string
	Labels                                                       map[string]string
	ToolboxProxyURL                                              string `json:"toolboxProxyUrl"`
	CreatedAt, UpdatedAt, LastActivityAt                         time.Time
}

// bare reads rows and pages, keeps nothing, and prints how many there were.
func bare(ctx context.Context, dsn, url string) error {
	rows, err := bareRows(ctx, dsn)
	if err != nil {
		return fmt.Errorf("read the rows: %w", err)
	}
	sandboxes, err := barePages(ctx, url)
	if err != nil {
		return fmt.Errorf("read the pages: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(counted{rows, sandboxes})
}

func bareRows(ctx context.Context, dsn string) (n int, err error) {
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer db.Close(ctx)
	rows, err := db.Query(ctx, bareSQL)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if _, err := rows.Values(); err != nil {
			return 0, err
		}
		n++
	}
	return n, rows.Err()
}

func barePages(ctx context.Context, url string) (n int, err error) {
	for cursor := ""; ; {
		var page struct {
			Items      []bareItem
			NextCursor *string
		}
		if err := getJSON(ctx, url+"/api/sandbox?cursor="+cursor, &page); err != nil {
			return 0, err
		}
		n += len(page.Items)
		if page.NextCursor == nil {
			return n, nil
		}
		cursor = *page.NextCursor
	}
}

func getJSON(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
