-- Whether the login of the tasks could write to the ledger, or act as its owner. A role of that name need not be here.
SELECT EXISTS (SELECT FROM pg_roles r, pg_namespace n
               WHERE r.rolname = @login AND n.nspname = 'sandkeeper'
                 AND (pg_has_role(r.oid, n.nspowner, 'MEMBER')
                      OR has_schema_privilege(r.oid, n.oid, 'USAGE')
                         AND EXISTS (SELECT FROM pg_class c
                                     WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
                                       AND (has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')
                                            OR has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE, TRIGGER')))))
