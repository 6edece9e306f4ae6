-- Begins each transaction on the task database: its clock, which queries/begin.sql read with the snapshot, and what
-- the statements rely on. Columns without time zone are read and written in the time zone
-- of the config; a plan must know the statuses, or the index on them is not used. A
-- backslash in a string of the config is a backslash, whatever role and URL say: else a
-- string could end elsewhere for the server than where it was checked to end.
-- Names are looked up in what the server itself has, and in those schemas of the login's path in which nobody else may
-- create: an operator or a function there, whose arguments fit better than those of the server's own, would run in our
-- name. Superusers, the database's owner and the mapped table's owner, who can do that anyway, are not somebody else;
-- which table is mapped is known only while there is one of its name. What is left out is told.
WITH path AS (
    SELECT n.oid, n.nspname, n.nspowner, n.nspacl, p.place
    FROM unnest(current_setting('sandkeeper.path')::name[]) WITH ORDINALITY AS p (name, place)
    JOIN pg_namespace AS n ON n.nspname = p.name
    WHERE n.nspname <> 'pg_catalog' AND n.oid <> pg_my_temp_schema()
), trusted AS (
    SELECT r.oid FROM pg_roles AS r WHERE r.rolsuper OR r.rolname IN (current_user, 'pg_database_owner')
    UNION ALL
    SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database()
    UNION ALL
    SELECT min(c.relowner)
    FROM parse_ident(@relation::text) AS ident
    JOIN pg_class AS c ON c.relname = ident[cardinality(ident)]
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE CASE cardinality(ident) WHEN 1 THEN n.oid IN (SELECT oid FROM path) ELSE n.nspname = ident[1] END
    HAVING count(*) = 1
), creators AS (
    SELECT p.oid, p.place, p.nspname, m.role
    FROM path AS p
    CROSS JOIN LATERAL (
        SELECT p.nspowner
        UNION
        SELECT a.grantee FROM aclexplode(p.nspacl) AS a WHERE a.privilege_type = 'CREATE'
    ) AS m (role)
    WHERE NOT EXISTS (SELECT FROM trusted AS t WHERE t.oid = m.role)
)
SELECT (current_setting('sandkeeper.now')::json #>> '{}')::timestamptz AS now,
       ARRAY(
           SELECT format('%s in %I', CASE c.role WHEN 0 THEN 'everybody' ELSE quote_ident(pg_get_userbyid(c.role)) END, c.nspname)
           FROM creators AS c
           ORDER BY c.place, c.role
       ) AS creators,
       set_config('TimeZone', @timezone, true),
       set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('jit', 'off', true),
       set_config('standard_conforming_strings', 'on', true),
       set_config('search_path', concat_ws(', ', 'pg_catalog', (
           SELECT string_agg(quote_ident(p.nspname), ', ' ORDER BY p.place)
           FROM path AS p
           WHERE true
           -- guard:sql-path P1
             AND NOT EXISTS (SELECT FROM creators AS c WHERE c.oid = p.oid)
       ), 'pg_temp'), true)
