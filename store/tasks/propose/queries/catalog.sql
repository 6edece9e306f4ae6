-- The tables of a database, with what tells what they are for. Partitions are told by their parent, and sandkeeper's
-- own tables are none of the platform's.
SELECT n.nspname::text AS schema, c.relname::text AS name, greatest(c.reltuples, 0)::bigint AS rows, c.relrowsecurity AS secured,
       (SELECT coalesce(json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, -1),
                   'default', coalesce(pg_get_expr(d.adbin, d.adrelid), ''),
                   'labels', (SELECT coalesce(json_agg(e.enumlabel ORDER BY e.enumsortorder), '[]')
                              FROM pg_enum e WHERE e.enumtypid = a.atttypid)) ORDER BY a.attnum), '[]')
        FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
       ARRAY(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
             WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY a.attnum) AS primary,
       ARRAY(SELECT DISTINCT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
             WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts = 1
             ORDER BY 1) AS unique,
       ARRAY(SELECT DISTINCT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
             WHERE i.indrelid = c.oid AND i.indisvalid ORDER BY 1) AS indexed,
       (SELECT coalesce(json_agg(json_build_object('column', a.attname, 'schema', fn.nspname, 'table', f.relname) ORDER BY a.attnum), '[]')
        FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND cardinality(k.conkey) = 1) AS foreign,
       ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
             WHERE k.conrelid = c.oid AND k.contype = 'c' ORDER BY k.conname) AS checks
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname NOT IN ('information_schema', 'sandkeeper') AND n.nspname NOT LIKE 'pg\_%'
ORDER BY 1, 2
LIMIT 3000
