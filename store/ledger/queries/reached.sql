-- Whether the login of the tasks could write to the ledger, or act as its owner, also as a role that it may become. A
-- role of that name need not be here.
SELECT EXISTS (SELECT FROM pg_roles r JOIN pg_roles m ON pg_has_role(r.oid, m.oid, 'MEMBER'), pg_namespace n
               WHERE r.rolname = @login AND n.nspname = 'sandkeeper'
                 AND (m.oid = n.nspowner
                      OR has_schema_privilege(m.oid, n.oid, 'USAGE')
                         AND EXISTS (SELECT FROM pg_class c
                                     WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
                                       AND (has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE')
                                            OR has_table_privilege(m.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER')))))
