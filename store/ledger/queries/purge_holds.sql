-- Deletes holds that ran out long ago. One that was lifted stays: the lift counts by its signature.
DELETE FROM sandkeeper.holds WHERE id IN (
    SELECT id FROM sandkeeper.holds WHERE until < @before LIMIT @batch)
