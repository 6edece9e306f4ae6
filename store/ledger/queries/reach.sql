-- Who has what over the ledger's schema: its owner, whether that is this login, who else may create in it, and
-- triggers on its tables that no migration made.
SELECT pg_get_userbyid(n.nspowner) AS owner,
       pg_has_role(n.nspowner, 'USAGE') AS owned,
       (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) AS superuser,
       ARRAY(SELECT CASE WHEN a.grantee = 0 THEN 'everybody' ELSE pg_get_userbyid(a.grantee)::text END
             FROM aclexplode(n.nspacl) a
             WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner ORDER BY 1) AS creators,
       ARRAY(SELECT format('%s on %s', t.tgname, t.tgrelid::regclass)
             FROM pg_trigger t
             JOIN pg_class c ON c.oid = t.tgrelid
             JOIN pg_proc p ON p.oid = t.tgfoid
             WHERE c.relnamespace = n.oid AND NOT t.tgisinternal AND p.pronamespace <> n.oid ORDER BY 1) AS triggers
FROM pg_namespace n
WHERE n.nspname = 'sandkeeper'
