-- The newest place of the record: its last link, how many lines that has, and the last pass that ended.
SELECT coalesce((SELECT max(id) FROM sandkeeper.timeline_links), 0)::bigint,
       coalesce((SELECT cardinality(numbers) FROM sandkeeper.timeline_links ORDER BY id DESC LIMIT 1), 0)::bigint,
       coalesce((SELECT id FROM sandkeeper.passes WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT 1), 0)::bigint
