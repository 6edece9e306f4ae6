-- The pass lease, locked against every writer under it: a takeover waits for them.
SELECT holder, epoch, expires_at, taken_at FROM sandkeeper.leases WHERE name = 'pass'
-- guard:sql-lease-lock once
FOR UPDATE
