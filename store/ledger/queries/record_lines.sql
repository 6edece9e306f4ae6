-- What was written after a place in the record, in the order in which it was committed: a link is written under a lock,
-- so no later look finds one before it. within is how many lines of the link at the place are known.
SELECT l.id, n.place, t.at, t.subject, t.kind, t.what, t.number
FROM (SELECT id, numbers FROM sandkeeper.timeline_links WHERE id >= @link::bigint ORDER BY id LIMIT @most::bigint + 1) AS l
CROSS JOIN LATERAL unnest(l.numbers) WITH ORDINALITY AS n (number, place)
JOIN sandkeeper.timeline AS t ON t.number = n.number
WHERE l.id > @link OR n.place > @within::bigint
ORDER BY l.id, n.place
LIMIT @most
