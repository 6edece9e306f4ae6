-- Remembers the tasks that changed, all in one statement.
INSERT INTO sandkeeper.task_states (
    id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
    ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, changed_at)
SELECT u.*, @now::timestamptz
FROM unnest(
    @ids::text[], @statuses::text[], @states::text[], @sandboxes::text[], @since::timestamptz[],
    @first_seen::timestamptz[], @updated_at::timestamptz[], @started_at::timestamptz[],
    @stale_start::timestamptz[], @ahead_sign::timestamptz[], @ahead_since::timestamptz[], @entry_sums::bigint[], @error_sums::bigint[], @error_changed::boolean[], @live::boolean[]) u
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, state = excluded.state, sandbox = excluded.sandbox,
    since = excluded.since, first_seen = excluded.first_seen, updated_at = excluded.updated_at,
    started_at = excluded.started_at, stale_start = excluded.stale_start,
    ahead_sign = excluded.ahead_sign, ahead_since = excluded.ahead_since,
    entry_sum = excluded.entry_sum, error_sum = excluded.error_sum, error_changed = excluded.error_changed,
    live = excluded.live, changed_at = excluded.changed_at
