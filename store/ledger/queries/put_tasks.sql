-- Remembers the tasks that changed, all in one statement, and counts those that left the
-- live set: by their terminal state, or as deleted where the row is gone, which leaves the
-- live state that it was last seen in. What was before is read from before this statement.
WITH seen AS (
    SELECT *
    FROM unnest(
        @ids::text[], @statuses::text[], @states::text[], @sandboxes::text[], @since::timestamptz[],
        @first_seen::timestamptz[], @updated_at::timestamptz[], @started_at::timestamptz[],
        @stale_start::timestamptz[], @ahead_sign::timestamptz[], @ahead_since::timestamptz[],
        @entry_sums::bigint[], @error_sums::bigint[], @error_changed::boolean[], @live::boolean[],
        @turns::text[], @recreated::timestamptz[], @late_sign::timestamptz[],
        @mark_sums::bigint[], @mark_at::timestamptz[], @beat_at::timestamptz[], @beat_gaps::bigint[],
        @tenants::text[], @named::text[], @traces::text[])
        u (id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
           ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns, recreated, late_sign,
           mark_sum, mark_at, beat_at, beat_gap, tenant, named, trace)
), put AS (
    INSERT INTO sandkeeper.task_states (
        id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
        ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
        recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, named, trace, changed_at)
    SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
        ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns::timestamptz[],
        recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, named, trace, @now::timestamptz
    FROM seen
    ON CONFLICT (id) DO UPDATE SET
        status = excluded.status, state = excluded.state, sandbox = excluded.sandbox,
        since = excluded.since, first_seen = excluded.first_seen, updated_at = excluded.updated_at,
        started_at = excluded.started_at, stale_start = excluded.stale_start,
        ahead_sign = excluded.ahead_sign, ahead_since = excluded.ahead_since,
        entry_sum = excluded.entry_sum, error_sum = excluded.error_sum,
        error_changed = excluded.error_changed, live = excluded.live, turns = excluded.turns,
        recreated = excluded.recreated, late_sign = excluded.late_sign,
        mark_sum = excluded.mark_sum, mark_at = excluded.mark_at, beat_at = excluded.beat_at,
        beat_gap = excluded.beat_gap, tenant = excluded.tenant, named = excluded.named, trace = excluded.trace,
        changed_at = excluded.changed_at
), ended AS (
    SELECT CASE WHEN seen.state IN ('pending', 'assigned', 'running') THEN 'deleted' ELSE seen.state END what,
           count(*) n
    FROM seen JOIN sandkeeper.task_states before ON before.id = seen.id
    WHERE before.live AND NOT seen.live AND seen.state NOT IN ('', 'parked', 'waiting')
    GROUP BY 1
), hourly AS (
    INSERT INTO sandkeeper.hours AS h (hour, name, what, value)
    SELECT @hour, 'tasks_ended', what, n FROM ended ORDER BY what
    ON CONFLICT (hour, name, what) DO UPDATE SET value = h.value + excluded.value
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'tasks_ended', '', '', what, n FROM ended ORDER BY what
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
