-- The fleet that is at work when the demo begins: tasks that started some minutes ago, and
-- the workers' first events.
WITH fleet AS (
    SELECT * FROM unnest(@ids::uuid[], @keys::text[], @providers::text[], @minutes::int[])
        AS f (id, key, provider, minutes)
), began AS (
    INSERT INTO sandbox_events (sandbox_id, event_type, created_at)
    SELECT key, 'agent.started', now() - make_interval(mins => minutes) FROM fleet
), lately AS (
    INSERT INTO sandbox_events (sandbox_id, event_type)
    SELECT key, 'agent.heartbeat' FROM fleet
)
INSERT INTO tasks (id, status, sandbox_id, provider, created_at, updated_at, started_at)
SELECT id, 'running', key, provider, now() - make_interval(mins => minutes + 1),
       now() - make_interval(mins => minutes), now() - make_interval(mins => minutes)
FROM fleet
