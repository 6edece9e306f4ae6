-- Names who else may create in the schemas that this login looks names up in: an operator or a function there, whose
-- arguments fit better than those of the server's own, runs in our name. Who owns a schema or the table is left out.
SELECT ARRAY(
    SELECT format('%s in %I', CASE a.grantee WHEN 0 THEN 'everybody' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, n.nspname)
    FROM pg_namespace AS n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
    WHERE n.nspname = ANY (current_schemas(false)) AND n.nspname <> 'pg_catalog' AND a.privilege_type = 'CREATE'
      AND a.grantee <> n.nspowner AND a.grantee <> (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
      AND a.grantee IS DISTINCT FROM (SELECT c.relowner FROM pg_class AS c WHERE c.oid = @relation::regclass)
    ORDER BY 1)
