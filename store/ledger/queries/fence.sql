-- One row while the lease stands, locked so that nobody takes it over before this
-- transaction ends. The weakest lock that does: renewing the lease is not held up.
SELECT epoch FROM sandkeeper.leases
WHERE name = 'pass'
  AND holder = @holder
  -- guard:sql-fence-epoch once
  AND epoch = @epoch
  -- guard:sql-fence-time once
  AND expires_at > @now
-- guard:sql-fence-lock once
FOR KEY SHARE
