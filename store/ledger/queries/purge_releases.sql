-- Deletes releases that ended long ago.
DELETE FROM sandkeeper.releases WHERE id IN (
    SELECT id FROM sandkeeper.releases WHERE until < @before LIMIT @batch)
