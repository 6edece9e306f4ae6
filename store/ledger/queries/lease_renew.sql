-- Extends the lease while it stands. Changes no row when it was lost or has ended.
UPDATE sandkeeper.leases SET expires_at = @until, taken_at = @now
WHERE name = 'pass'
  AND holder = @holder
  -- guard:sql-lease-renew-epoch once
  AND epoch = @epoch
  -- guard:sql-lease-renew-in-time once
  AND expires_at > @now
