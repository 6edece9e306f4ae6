-- What differs whenever a page may show something else: the newest pass and its end, and the newest line of the record.
SELECT coalesce((SELECT max(id) FROM sandkeeper.timeline_links), 0)::text || ' ' ||
       coalesce((SELECT id::text || ' ' || coalesce(ended_at::text, '') FROM sandkeeper.passes ORDER BY id DESC LIMIT 1), '')
