-- Deletes pauses that ended long ago.
DELETE FROM sandkeeper.pauses WHERE id IN (
    SELECT id FROM sandkeeper.pauses WHERE lifted_at < @before OR until < @before LIMIT @batch)
