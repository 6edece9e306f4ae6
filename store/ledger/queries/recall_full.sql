-- The end of the newest complete full pass.
SELECT ended_at FROM sandkeeper.passes
WHERE kind = 'full' AND complete AND ended_at IS NOT NULL ORDER BY id DESC LIMIT 1
