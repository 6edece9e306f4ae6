-- The task of this id, tasks whose sandbox column holds it, and tasks that the sandboxes
-- found before were linked to.
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace
FROM sandkeeper.task_states
WHERE id = @id OR id = ANY(@tasks::text[]) OR sandbox = @id AND sandbox <> ''
ORDER BY since DESC NULLS LAST, id
LIMIT @most
