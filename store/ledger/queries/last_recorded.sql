-- The number of the newest pass that ended, 0 when none did.
SELECT coalesce(max(id), 0) FROM sandkeeper.passes WHERE ended_at IS NOT NULL
