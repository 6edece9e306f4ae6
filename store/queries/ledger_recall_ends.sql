-- The ends of the newest complete passes.
SELECT ended_at FROM sandkeeper.passes WHERE complete ORDER BY ended_at DESC LIMIT @most
