-- Deletes tasks that are over for long, unless a sandbox that exists names them:
-- they explain it.
DELETE FROM sandkeeper.task_states WHERE id IN (
    SELECT t.id FROM sandkeeper.task_states t
    WHERE t.changed_at < @before
      -- guard:sql-purge-live P4
      AND NOT t.live
      -- guard:sql-purge-explains P1
      AND NOT EXISTS (SELECT FROM sandkeeper.sandboxes s WHERE s.task = t.id AND s.gone_at IS NULL)
      -- guard:sql-purge-task-open lost
      AND NOT EXISTS (SELECT FROM sandkeeper.actions a WHERE a.task = t.id AND a.closed_at IS NULL)
    LIMIT @batch)
