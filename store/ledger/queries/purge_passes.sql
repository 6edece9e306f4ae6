-- Deletes old passes, except those that the next pass measures itself against: the newest
-- complete ones and the newest complete full one.
DELETE FROM sandkeeper.passes WHERE id IN (
    SELECT id FROM sandkeeper.passes
    WHERE began_at < @before
      -- guard:sql-purge-newest P6
      AND id NOT IN (SELECT id FROM sandkeeper.passes WHERE complete ORDER BY ended_at DESC LIMIT @keep)
      -- guard:sql-purge-full P6
      AND id NOT IN (SELECT id FROM sandkeeper.passes WHERE complete AND kind = 'full' ORDER BY ended_at DESC LIMIT 1)
      AND id < (SELECT max(id) FROM sandkeeper.passes)
    LIMIT @batch)
