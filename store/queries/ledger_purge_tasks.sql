-- Deletes tasks that are over for long, unless a sandbox that exists names them:
-- they explain it.
DELETE FROM sandkeeper.task_states WHERE id IN (
    SELECT t.id FROM sandkeeper.task_states t
    WHERE NOT t.live AND t.changed_at < @before
      AND NOT EXISTS (SELECT FROM sandkeeper.sandboxes s WHERE s.task = t.id AND s.gone_at IS NULL)
      AND NOT EXISTS (SELECT FROM sandkeeper.actions a WHERE a.task = t.id AND a.closed_at IS NULL)
    LIMIT @batch)
