-- Hands the lease, locked before, to its new holder.
UPDATE sandkeeper.leases
SET holder = @holder, epoch = @epoch, taken_at = @now, expires_at = @until
WHERE name = 'pass'
