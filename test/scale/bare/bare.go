// Package bare reads what a pass reads, and nothing else: the live rows of an OmoiOS database by pgx, and the pages of
// a Daytona listing by HTTP and encoding/json. It is the limit that measurements are compared with.
package bare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
)

// live is what anybody would write to read the live tasks with their newest events.
const live = `
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

// An item has the fields of a listed sandbox that anybody would decode.
type item struct {
	ID, Name, State, DesiredState, Snapshot, Target, ErrorReason string
	Labels                                                       map[string]string
	ToolboxProxyURL                                              string `json:"toolboxProxyUrl"`
	CreatedAt, UpdatedAt, LastActivityAt                         time.Time
}

// Rows reads the live tasks, keeps nothing, and returns how many there were.
func Rows(ctx context.Context, db *pgx.Conn) (n int, err error) {
	rows, err := db.Query(ctx, live)
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

// Pages reads the listing of the provider at an address, keeps nothing, and returns how many sandboxes it shows.
func Pages(ctx context.Context, url string) (n int, err error) {
	for cursor := ""; ; {
		var page struct {
			Items      []item
			NextCursor *string
		}
		if err := JSON(ctx, url+"/api/sandbox?cursor="+cursor, &page); err != nil {
			return 0, err
		}
		n += len(page.Items)
		if page.NextCursor == nil {
			return n, nil
		}
		cursor = *page.NextCursor
	}
}

// Counts is the one query that anybody would write to show a fleet of the ledger: its sandboxes by provider and state.
func Counts(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, `
		SELECT provider, state, count(*) FROM sandkeeper.sandboxes WHERE gone_at IS NULL GROUP BY provider, state`)
	if err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}

// JSON reads what an address answers with.
func JSON(ctx context.Context, url string, into any) error {
	text, err := Text(ctx, url)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Text reads what an address answers with, which has to be a success.
func Text(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
