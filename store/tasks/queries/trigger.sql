-- Shows the trigger of deploy/terminal_rows.sql on a table. No row when it is not there, or
-- not in force.
SELECT pg_get_triggerdef(t.oid)
FROM pg_trigger AS t
WHERE t.tgrelid = to_regclass(@relation::text) AND t.tgname = 'sandkeeper_guard' AND t.tgenabled IN ('O', 'A')
