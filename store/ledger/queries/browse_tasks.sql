-- Tasks that somebody chose, by id: the live ones, those of one state, or all that are kept. One whose row is gone is in
-- no state of those that live.
SELECT id, status, state, sandbox, since, first_seen, updated_at, started_at, stale_start,
       ahead_sign, ahead_since, entry_sum, error_sum, error_changed, live, turns,
       recreated, late_sign, mark_sum, mark_at, beat_at, beat_gap, tenant, coalesce(named, sandbox), trace
FROM sandkeeper.task_states
WHERE id > @key::text
  AND CASE @state::text WHEN 'all' THEN true WHEN 'live' THEN live WHEN '' THEN live
      ELSE state = @state AND (live OR state NOT IN ('pending', 'assigned', 'running')) END
  AND (@template::text = '' OR EXISTS (SELECT FROM sandkeeper.sandboxes b WHERE b.task = task_states.id AND b.task <> ''
               AND b.template = @template))
  AND (@text::text = '' OR strpos(id, @text) > 0 OR strpos(sandbox, @text) > 0 OR strpos(status, @text) > 0)
ORDER BY id
LIMIT @most
