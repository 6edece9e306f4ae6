-- The number of the newest migration that was applied, 0 when none was.
SELECT coalesce(max(version), 0) FROM sandkeeper.schema_migrations
