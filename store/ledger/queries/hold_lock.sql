-- The holds with this number or on this target that may be lifted, locked.
SELECT id, target, reason, author, at, until, lifted_at, lifted_by, lifted_why, lift_seal FROM sandkeeper.holds
WHERE (lifted_at IS NULL OR @sealed) AND (until IS NULL OR until > @now)
  AND (target = @target OR id::text = @target)
ORDER BY id
FOR UPDATE
