-- Whether what runs as this login here can write to a ledger that is in the same database, and which triggers run with
-- what a repair writes, and who owns the table, where that is neither this login nor a superuser.
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'sandkeeper' AND c.relname = 'actions' AND has_schema_privilege(n.oid, 'USAGE')
                 AND has_table_privilege(c.oid, 'INSERT, UPDATE')),
       ARRAY(SELECT format('%s (function of %s)', t.tgname, pg_get_userbyid(p.proowner))
             FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
             WHERE t.tgrelid = @relation::regclass AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND NOT p.prosecdef
             ORDER BY 1),
       coalesce((SELECT o.rolname FROM pg_class t JOIN pg_roles o ON o.oid = t.relowner
                 WHERE t.oid = @relation::regclass AND NOT o.rolsuper AND NOT pg_has_role(t.relowner, 'USAGE')), '')
