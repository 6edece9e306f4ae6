-- Deletes findings that were resolved long ago.
DELETE FROM sandkeeper.findings WHERE number IN (
    SELECT number FROM sandkeeper.findings WHERE resolved_at < @before LIMIT @batch)
