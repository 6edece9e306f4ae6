-- How many sandboxes are on record, by state, and how many of them are gone.
SELECT CASE WHEN gone_at IS NULL THEN state ELSE 'gone' END, count(*)
FROM sandkeeper.sandboxes GROUP BY 1
