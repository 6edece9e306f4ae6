-- Deletes pauses that ran out long ago. One that was ended stays: its end counts by its signature.
DELETE FROM sandkeeper.pauses WHERE id IN (
    SELECT id FROM sandkeeper.pauses WHERE until < @before LIMIT @batch)
