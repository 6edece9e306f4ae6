-- Lifts the holds in force with this number or on this target.
UPDATE sandkeeper.holds SET lifted_at = @now
WHERE lifted_at IS NULL AND (until IS NULL OR until > @now)
  AND (target = @target OR id::text = @target)
RETURNING target
