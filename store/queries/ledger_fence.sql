-- One row while the lease stands, locked so that nobody takes it over before this
-- transaction ends. The weakest lock that does: renewing the lease is not held up.
SELECT epoch FROM sandkeeper.leases
WHERE name = 'pass'
  AND holder = @holder
  -- guard:sql-fence-epoch once a pass of before would write under the lease of a later one
  AND epoch = @epoch
  -- guard:sql-fence-time once a pass would write after its lease is over
  AND expires_at > @now
-- guard:sql-fence-lock once the lease could be taken over while a pass writes under it
FOR KEY SHARE
