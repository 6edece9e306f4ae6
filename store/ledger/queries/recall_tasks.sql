-- The tasks that were live at the last look, those that left lately, and those that a
-- sandbox which exists still names. The cost follows what is alive, not the history: the
-- array makes the last part a look-up by key.
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace
FROM sandkeeper.task_states WHERE live
UNION ALL
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace
FROM sandkeeper.task_states WHERE NOT live AND changed_at > @recent
UNION ALL
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace
FROM sandkeeper.task_states
WHERE id = ANY(ARRAY(
        SELECT s.task FROM sandkeeper.sandboxes s
        WHERE s.gone_at IS NULL AND s.task <> ''
          AND NOT EXISTS (SELECT FROM sandkeeper.task_states t WHERE t.live AND t.id = s.task)))
  AND NOT live AND changed_at + interval '0' <= @recent
