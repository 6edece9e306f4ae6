-- The holds in force.
SELECT id, target, reason, author, at, until FROM sandkeeper.holds
WHERE lifted_at IS NULL AND (until IS NULL OR until > @now)
ORDER BY id
