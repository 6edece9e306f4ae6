-- Who holds the pass lease now.
SELECT holder, epoch, expires_at FROM sandkeeper.leases
WHERE name = 'pass' AND holder <> '' AND expires_at > @now
