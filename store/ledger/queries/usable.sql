-- The number of the newest migration that was applied, and the installation that the ledger belongs to.
SELECT (SELECT coalesce(max(version), 0) FROM sandkeeper.schema_migrations), (SELECT name FROM sandkeeper.installation)
