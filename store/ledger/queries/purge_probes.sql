-- Deletes old probe results; what they come to stays.
DELETE FROM sandkeeper.probes WHERE number IN (
    SELECT number FROM sandkeeper.probes WHERE at < @before LIMIT @batch)
