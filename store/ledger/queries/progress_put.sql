-- Keeps how far a history has been read.
INSERT INTO sandkeeper.proof_progress (key, since, until, after_id, tasks, state, saved_at, seal)
VALUES (@key, @since, @until, @after, @tasks, @state, @now, @seal)
ON CONFLICT (key) DO UPDATE SET since = excluded.since, until = excluded.until, after_id = excluded.after_id,
    tasks = excluded.tasks, state = excluded.state, saved_at = excluded.saved_at, seal = excluded.seal
