-- Deletes notices that were over long ago.
DELETE FROM sandkeeper.notices WHERE action IN (
    SELECT action FROM sandkeeper.notices WHERE closed_at < @before LIMIT @batch)
