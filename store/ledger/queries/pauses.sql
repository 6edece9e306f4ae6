-- The pauses in force; with @sealed also those that were lifted, to look at who did that.
SELECT id, scope, reason, author, at, until, lifted_at, lifted_by, lifted_why, lift_seal FROM sandkeeper.pauses
WHERE (lifted_at IS NULL OR @sealed) AND (until IS NULL OR until > @now)
ORDER BY id
