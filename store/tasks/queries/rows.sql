-- Estimates how many rows a table has, with its partitions: as the last ANALYZE left it, else by its size.
WITH RECURSIVE part AS (
    SELECT to_regclass(@relation::text)::oid AS oid
    UNION ALL
    SELECT i.inhrelid FROM part JOIN pg_inherits AS i ON i.inhparent = part.oid
)
SELECT coalesce(sum(CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE pg_relation_size(c.oid) / 100 END), 0)::bigint
FROM part
JOIN pg_class AS c ON c.oid = part.oid AND c.relkind IN ('r', 'm', 't')
