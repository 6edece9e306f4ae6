-- What the workers say: one event each.
INSERT INTO sandbox_events (id, sandbox_id, event_type, event_data, source, created_at)
SELECT gen_random_uuid(), e.key, e.type, jsonb_build_object('task_id', e.id, 'sandbox_id', e.key), 'agent', now()
FROM unnest(@ids::text[], @keys::text[], @types::text[]) AS e (id, key, type)
