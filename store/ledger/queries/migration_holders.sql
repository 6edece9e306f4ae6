-- Who holds what a migration waits for: the lock of another one, one of our tables, or a name that a table of theirs
-- has and nobody else sees yet.
SELECT coalesce(string_agg(DISTINCT format('session %s (role %s, %s, %s since %s)', a.pid, a.usename,
           coalesce(nullif(a.application_name, ''), 'no application name'), a.state,
           to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')), ', '), '')
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN pg_class c ON c.oid = l.relation
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE l.granted AND l.pid <> pg_backend_pid() AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND (n.nspname = 'sandkeeper'
       OR l.relation IS NOT NULL AND c.oid IS NULL AND l.mode = 'AccessExclusiveLock'
       OR l.locktype = 'advisory' AND (l.classid::bigint << 32 | l.objid::bigint) = 7310589412025511)
