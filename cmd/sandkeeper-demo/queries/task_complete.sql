-- The worker has ended its last iteration, it was found good, and the platform has taken the
-- result in the same moment.
WITH finished AS (
    INSERT INTO sandbox_events (id, sandbox_id, event_type, event_data, source, created_at)
    SELECT gen_random_uuid(), @key::text, e.type,
           jsonb_build_object('task_id', @id::text, 'sandbox_id', @key::text) || e.data, 'agent', now()
    FROM (VALUES ('agent.completed', jsonb '{}'), ('continuous.completed', jsonb '{"validation_passed": true}'))
        AS e (type, data)
    WHERE @heard::bool
)
UPDATE tasks SET status = 'completed', completed_at = now(), updated_at = now() WHERE id = @id::text
