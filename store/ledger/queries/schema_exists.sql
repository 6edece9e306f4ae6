-- Whether the ledger was ever migrated. Reads the catalog alone, so that a role without
-- any grant gets an answer.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'sandkeeper' AND c.relname = 'schema_migrations')
