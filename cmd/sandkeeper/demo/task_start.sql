-- The worker has started.
WITH started AS (
    INSERT INTO sandbox_events (sandbox_id, event_type) SELECT @key, 'agent.started' WHERE @heard::bool
)
UPDATE tasks SET status = 'running', started_at = now(), updated_at = now() WHERE id = @id
