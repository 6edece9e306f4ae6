-- Who holds the pass lease now, and since when he says so.
SELECT holder, epoch, expires_at, taken_at FROM sandkeeper.leases
WHERE name = 'pass' AND holder <> '' AND expires_at > @now
