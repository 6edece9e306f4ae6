-- What the workers say: one event each.
INSERT INTO sandbox_events (sandbox_id, event_type)
SELECT * FROM unnest(@keys::text[], @types::text[])
