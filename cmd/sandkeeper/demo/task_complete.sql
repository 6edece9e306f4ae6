-- The worker has finished, and the platform has taken its result in the same moment.
WITH finished AS (
    INSERT INTO sandbox_events (sandbox_id, event_type) SELECT @key, 'agent.completed' WHERE @heard::bool
)
UPDATE tasks SET status = 'completed', completed_at = now(), updated_at = now() WHERE id = @id
