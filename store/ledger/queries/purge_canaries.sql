-- Deletes canaries that were planted long ago.
DELETE FROM sandkeeper.canaries WHERE slot IN (
    SELECT slot FROM sandkeeper.canaries WHERE planted_at < @before LIMIT @batch)
