-- The end of the newest complete full pass.
SELECT ended_at FROM sandkeeper.passes WHERE complete AND kind = 'full' ORDER BY ended_at DESC LIMIT 1
