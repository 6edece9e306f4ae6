-- The newest passes, newest first, and besides the newest of each kind that is complete, and that ended without.
(SELECT false AS newest, id, kind, holder, began_at, ended_at, complete, error, kept, counts
 FROM sandkeeper.passes ORDER BY id DESC LIMIT @most)
UNION ALL
SELECT true, p.id, p.kind, p.holder, p.began_at, p.ended_at, p.complete, p.error, p.kept, p.counts
FROM (VALUES ('full', true), ('full', false), ('quick', true), ('quick', false)) w (kind, complete)
CROSS JOIN LATERAL (
    SELECT * FROM sandkeeper.passes p
    WHERE p.kind = w.kind AND p.complete = w.complete AND p.ended_at IS NOT NULL
    ORDER BY p.id DESC LIMIT 1) p
ORDER BY 1, 2 DESC
