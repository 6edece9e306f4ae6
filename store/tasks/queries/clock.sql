-- Says whether the task database is a standby, and whether its task table is empty.
SELECT pg_is_in_recovery(), NOT EXISTS (SELECT FROM {{.Table}})
