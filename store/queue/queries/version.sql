-- The version of the job queue's schema, 0 when there is none.
SELECT coalesce(max(version), 0) FROM sandkeeper.river_migration
