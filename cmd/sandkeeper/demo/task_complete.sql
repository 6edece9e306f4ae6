-- The worker has finished, and the platform has taken its result in the same moment.
WITH finished AS (
    INSERT INTO sandbox_events (sandbox_id, event_type) VALUES (@key, 'agent.completed')
)
UPDATE tasks SET status = 'completed', completed_at = now(), updated_at = now() WHERE id = @id
