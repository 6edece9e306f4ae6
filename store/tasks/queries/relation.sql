-- Describes a relation: what it is, and whether row security hides rows of it from us. No row when there is none.
SELECT c.relkind::text AS kind,
       c.relrowsecurity AND row_security_active(c.oid) AS hidden,
       ARRAY(
           SELECT a.attname::text
           FROM pg_attribute AS a
           WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           ORDER BY a.attnum
       ) AS columns
FROM pg_class AS c
WHERE c.oid = to_regclass(@relation::text)
