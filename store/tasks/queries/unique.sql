-- Reports whether a unique index over this column alone makes its values unique, and whether none can, as the table's
-- partitions are told apart by others.
SELECT EXISTS (
    SELECT
    FROM pg_index AS i
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = to_regclass(@relation::text)
      AND a.attname = @column::text
      AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts = 1
) AS made, EXISTS (
    SELECT
    FROM pg_partitioned_table AS p
    LEFT JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
    WHERE p.partrelid = to_regclass(@relation::text)
      AND (p.partnatts > 1 OR a.attname IS DISTINCT FROM @column::text)
) AS parted
