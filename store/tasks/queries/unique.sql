-- Reports whether a unique index over this column alone makes its values unique.
SELECT EXISTS (
    SELECT
    FROM pg_index AS i
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = to_regclass(@relation::text)
      AND a.attname = @column::text
      AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indnkeyatts = 1
)
