-- The worker has started. A task that is tried again keeps its first start.
WITH started AS (
    INSERT INTO sandbox_events (id, sandbox_id, event_type, event_data, source, created_at)
    SELECT gen_random_uuid(), @key::text, 'agent.started', jsonb_build_object('task_id', @id::text, 'sandbox_id', @key::text),
           'agent', now()
    WHERE @heard::bool
)
UPDATE tasks SET status = 'running', started_at = coalesce(started_at, now()), updated_at = now() WHERE id = @id::text
