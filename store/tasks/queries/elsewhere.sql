-- Lists the tables that our role may write to and need not: all but the given ones, which are looked at by themselves, and
-- the ledger. Nothing limits a superuser, so that no list is made of what he may.
SELECT c.oid::regclass::text
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('information_schema', 'sandkeeper') AND n.nspname NOT LIKE 'pg\_%'
  AND c.oid <> ALL (SELECT to_regclass(t) FROM unnest(@tables::text[]) AS t)
  AND has_schema_privilege(n.oid, 'USAGE')
  AND (has_any_column_privilege(c.oid, 'INSERT, UPDATE') OR has_table_privilege(c.oid, 'DELETE, TRUNCATE'))
  AND NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = current_user)
ORDER BY 1
