-- Whether the job queue was ever migrated, for a role without any grant too.
SELECT EXISTS (
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'sandkeeper' AND c.relname = 'river_migration')
