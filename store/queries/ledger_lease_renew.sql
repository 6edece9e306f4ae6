-- Extends the lease while it stands. Changes no row when it was lost or has ended.
UPDATE sandkeeper.leases SET expires_at = @until, taken_at = @now
WHERE name = 'pass'
  AND holder = @holder
  -- guard:sql-lease-renew-epoch once a process that was taken for dead would extend the lease of who came after it
  AND epoch = @epoch
  -- guard:sql-lease-renew-in-time once a lease that has ended would come back to life
  AND expires_at > @now
