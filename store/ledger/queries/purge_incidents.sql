-- Deletes incidents that were over long ago.
DELETE FROM sandkeeper.incidents WHERE id IN (
    SELECT id FROM sandkeeper.incidents WHERE closed_at < @before LIMIT @batch)
