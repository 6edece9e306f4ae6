-- Extends a claim that still stands and is still this very one.
UPDATE sandkeeper.actions SET claim_ends = @ends
WHERE id = @id
  AND closed_at IS NULL
  AND claimed_by = @holder
  AND claim_epoch = @epoch
  -- guard:sql-renew-attempt once an earlier attempt would extend the claim of a later one
  AND attempts = @attempts
  -- guard:sql-renew-in-time once a claim that has ended would come back to life
  AND claim_ends > @now
