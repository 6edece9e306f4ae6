-- Who holds the pass lease, the database's clock, and what usable.sql asks, in one round trip: a process that makes no
-- pass for a while asks for all three before the next one.
SELECT clock_timestamp(),
       (SELECT coalesce(max(version), 0) FROM sandkeeper.schema_migrations), (SELECT name FROM sandkeeper.installation),
       holder, epoch, expires_at, taken_at
FROM sandkeeper.leases WHERE name = 'pass'
