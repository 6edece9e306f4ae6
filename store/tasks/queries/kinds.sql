-- Tells how many rows there are for each value of the table's first column of those given, on average, as the last
-- ANALYZE left it (0: not known), and whether it has a whole, valid index that begins with them all, in rising order.
SELECT coalesce((
           SELECT max(CASE WHEN s.n_distinct < 0 THEN -1 / s.n_distinct WHEN s.n_distinct > 0 THEN c.reltuples / s.n_distinct END)
           FROM pg_class AS c
           JOIN pg_namespace AS n ON n.oid = c.relnamespace
           JOIN pg_stats AS s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = (@columns::text[])[1]
           WHERE c.oid = to_regclass(@relation::text)
       ), 0)::float8 AS each,
       EXISTS (
           SELECT
           FROM pg_index AS i
           JOIN pg_class AS c ON c.oid = i.indexrelid
           JOIN pg_am AS m ON m.oid = c.relam AND m.amname = 'btree'
           WHERE i.indrelid = to_regclass(@relation::text) AND i.indisvalid AND i.indpred IS NULL
             AND @columns::text[] = ARRAY(
                 SELECT a.attname::text
                 FROM generate_series(0, cardinality(@columns::text[]) - 1) AS k
                 JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k] AND i.indoption[k] = 0
                 ORDER BY k
             )
       ) AS indexed
