-- Whether a schema of this name is there; creating it needs a right that using it does not.
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'sandkeeper')
