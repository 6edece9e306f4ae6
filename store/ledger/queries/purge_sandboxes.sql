-- Deletes sandboxes that are gone for long and whose task is over.
DELETE FROM sandkeeper.sandboxes WHERE (provider, id) IN (
    SELECT s.provider, s.id FROM sandkeeper.sandboxes s
    WHERE s.gone_at < @before
      -- guard:sql-purge-sandbox-task P4
      AND NOT EXISTS (SELECT FROM sandkeeper.task_states t WHERE t.id = s.task AND t.live)
      -- guard:sql-purge-sandbox-open lost
      AND NOT EXISTS (SELECT FROM sandkeeper.actions a WHERE a.closed_at IS NULL AND a.provider = s.provider AND a.sandbox = s.id)
    LIMIT @batch)
