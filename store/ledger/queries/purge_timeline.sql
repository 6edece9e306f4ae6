-- Deletes old lines of histories.
DELETE FROM sandkeeper.timeline WHERE number IN (
    SELECT number FROM sandkeeper.timeline WHERE at < @before LIMIT @batch)
