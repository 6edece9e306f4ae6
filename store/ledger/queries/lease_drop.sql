-- Gives the lease up, also after it ended. The epoch stays, so the next one is higher.
UPDATE sandkeeper.leases SET holder = '', expires_at = @now
WHERE name = 'pass'
  AND holder = @holder
  -- guard:sql-lease-drop-epoch once
  AND epoch = @epoch
