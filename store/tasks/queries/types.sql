-- Names the types with the given oids, with the labels of enums. A type modifier of -1 is
-- none; without one "character" and "bit" would be named, which cut to one in a cast.
SELECT t.oid::bigint AS oid,
       format_type(t.oid, -1) AS name,
       ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder) AS labels
FROM pg_type AS t
WHERE t.oid = ANY (@oids::bigint[]::oid[])
