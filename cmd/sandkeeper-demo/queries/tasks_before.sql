-- The fleet that is at work when the demo begins: tasks that started some minutes ago, and
-- the workers' first events.
WITH fleet AS (
    SELECT * FROM unnest(@ids::text[], @keys::text[], @agents::text[], @providers::text[], @minutes::int[])
        AS f (id, key, agent, provider, minutes)
), said AS (
    INSERT INTO sandbox_events (id, sandbox_id, event_type, event_data, source, created_at)
    SELECT gen_random_uuid(), f.key, e.type, jsonb_build_object('task_id', f.id, 'sandbox_id', f.key), 'agent', e.at
    FROM fleet AS f, LATERAL (VALUES ('agent.started', now() - make_interval(mins => f.minutes)),
                                     ('agent.tool_use', now())) AS e (type, at)
)
INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, status, assigned_agent_id, sandbox_id, provider,
                   retry_count, max_retries, created_at, updated_at, started_at)
SELECT id, 'ticket', 'PHASE_IMPLEMENTATION', 'implement_feature', 'MEDIUM', 'running', agent, key, provider,
       0, 3, now() - make_interval(mins => minutes + 1), now() - make_interval(mins => minutes),
       now() - make_interval(mins => minutes)
FROM fleet
