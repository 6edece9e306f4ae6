-- Who has what over the ledger's schema: its owner, whether that is this login, who else may create in it or make
-- triggers on its tables, triggers and rules there that no migration made, and what in it belongs to somebody who may
-- not act as its owner.
SELECT quote_ident(pg_get_userbyid(n.nspowner)) AS owner,
       quote_ident(current_user) AS login,
       pg_has_role(n.nspowner, 'USAGE') AS owned,
       (SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user) AS superuser,
       ARRAY(SELECT CASE WHEN a.grantee = 0 THEN 'everybody' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
             FROM aclexplode(n.nspacl) a
             WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner ORDER BY 1) AS creators,
       ARRAY(SELECT format('trigger %I on %s', t.tgname, t.tgrelid::regclass)
             FROM pg_trigger t
             JOIN pg_class c ON c.oid = t.tgrelid
             JOIN pg_proc p ON p.oid = t.tgfoid
             WHERE c.relnamespace = n.oid AND NOT t.tgisinternal AND p.pronamespace <> n.oid
             UNION ALL
             SELECT format('rule %I on %s', r.rulename, r.ev_class::regclass)
             FROM pg_rewrite r
             JOIN pg_class c ON c.oid = r.ev_class
             WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') ORDER BY 1) AS triggers,
       ARRAY(SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'everybody' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
             FROM pg_class c CROSS JOIN aclexplode(c.relacl) a
             WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND a.privilege_type = 'TRIGGER'
               AND a.grantee NOT IN (c.relowner, n.nspowner) ORDER BY 1) AS planters,
       ARRAY(SELECT format('table %s of %I', c.oid::regclass, pg_get_userbyid(c.relowner))
             FROM pg_class c
             WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
               AND NOT pg_has_role(c.relowner, n.nspowner, 'MEMBER')
             UNION ALL
             SELECT format('routine %s of %I', p.oid::regprocedure, pg_get_userbyid(p.proowner))
             FROM pg_proc p
             WHERE p.pronamespace = n.oid AND NOT pg_has_role(p.proowner, n.nspowner, 'MEMBER') ORDER BY 1) AS strangers
FROM pg_namespace n
WHERE n.nspname = 'sandkeeper'
