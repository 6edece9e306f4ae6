-- The pauses in force.
SELECT scope, reason, author, at, until FROM sandkeeper.pauses
WHERE lifted_at IS NULL AND (until IS NULL OR until > @now)
ORDER BY id
