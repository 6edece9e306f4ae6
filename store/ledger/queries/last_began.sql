-- When the newest pass of a kind began that also ended, and the database's now. A full
-- pass is a quick one too.
SELECT (
    SELECT p.began_at
    FROM (VALUES ('full', true), ('full', false), ('quick', true), ('quick', false)) w (kind, complete)
    CROSS JOIN LATERAL (
        SELECT p.id, p.began_at FROM sandkeeper.passes p
        WHERE p.kind = w.kind AND p.complete = w.complete AND p.ended_at IS NOT NULL
        ORDER BY p.id DESC LIMIT 1) p
    WHERE w.kind = 'full' OR @quick::boolean
    ORDER BY p.id DESC LIMIT 1),
    clock_timestamp()
