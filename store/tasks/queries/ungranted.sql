-- Lists the columns that the role may not use in the given way.
SELECT a.attname::text
FROM pg_attribute AS a
WHERE a.attrelid = to_regclass(@relation::text)
  AND a.attname = ANY (@columns::text[])
  AND NOT has_column_privilege(a.attrelid, a.attnum, @privilege::text)
ORDER BY a.attnum
