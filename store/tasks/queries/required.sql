-- Lists the columns that take no NULL: their types, and whether they have a value by themselves.
SELECT a.attname::text AS name, format_type(a.atttypid, -1) AS type,
       a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '' AS filled
FROM pg_attribute AS a
WHERE a.attrelid = to_regclass(@relation::text) AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
ORDER BY a.attnum
