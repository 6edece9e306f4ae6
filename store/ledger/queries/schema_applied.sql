-- Records that a migration was applied, in the transaction that applied it.
INSERT INTO sandkeeper.schema_migrations (version, name, applied_at) VALUES (@version, @name, @now)
