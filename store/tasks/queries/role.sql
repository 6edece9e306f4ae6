-- Says what our role may do with a table besides reading it and changing the given columns.
SELECT r.rolsuper AS superuser,
       pg_has_role(c.relowner, 'USAGE') AS owner,
       ARRAY(
           SELECT p.privilege
           FROM unnest(ARRAY['INSERT', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p (privilege)
           WHERE has_table_privilege(c.oid, p.privilege)
       ) AS further,
       ARRAY(
           SELECT a.attname::text
           FROM pg_attribute AS a
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
             AND a.attname <> ALL (@columns::text[])
             AND has_column_privilege(c.oid, a.attnum, 'UPDATE')
           ORDER BY a.attnum
       ) AS columns
FROM pg_class AS c
JOIN pg_roles AS r ON r.rolname = current_user
WHERE c.oid = to_regclass(@relation::text)
