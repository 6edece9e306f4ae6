-- The pauses of a scope that may be lifted, also one that ran out by itself, locked.
SELECT id, scope, reason, author, at, until, lifted_at, lifted_by, lifted_why, lift_seal FROM sandkeeper.pauses
WHERE scope = @scope AND (lifted_at IS NULL OR @sealed AND (until IS NULL OR until > @now))
ORDER BY id
FOR UPDATE
