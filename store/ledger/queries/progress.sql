-- How far a history has been read, unless that was long ago.
SELECT since, until, after_id, tasks, state, seal FROM sandkeeper.proof_progress WHERE key = @key AND saved_at > @fresh
