-- Deletes verdicts that were over long ago.
DELETE FROM sandkeeper.verdicts WHERE number IN (
    SELECT number FROM sandkeeper.verdicts WHERE at < @before LIMIT @batch)
