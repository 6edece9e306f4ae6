-- Reports whether the table has a whole, valid index that begins with the column and can
-- look a value up, or all values from one on.
SELECT EXISTS (
    SELECT
    FROM pg_index AS i
    JOIN pg_class AS c ON c.oid = i.indexrelid
    JOIN pg_am AS m ON m.oid = c.relam AND (m.amname = 'btree' OR m.amname = 'hash' AND NOT @range::bool)
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = to_regclass(@relation::text)
      AND a.attname = @column::text
      AND i.indisvalid AND i.indpred IS NULL
)
