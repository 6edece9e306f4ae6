-- Forgets a history that was read to its end, and those that nobody went on with.
DELETE FROM sandkeeper.proof_progress WHERE key = @key OR saved_at <= @fresh
