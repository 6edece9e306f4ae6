-- Deletes holds that ended long ago.
DELETE FROM sandkeeper.holds WHERE id IN (
    SELECT id FROM sandkeeper.holds WHERE lifted_at < @before OR until < @before LIMIT @batch)
