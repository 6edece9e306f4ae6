-- Extends a claim that still stands and is still this very one.
UPDATE sandkeeper.actions SET claim_ends = @ends
WHERE id = @id
  AND closed_at IS NULL
  AND claimed_by = @holder
  AND claim_epoch = @epoch
  -- guard:sql-renew-attempt once
  AND attempts = @attempts
  -- guard:sql-renew-in-time once
  AND claim_ends > @now
