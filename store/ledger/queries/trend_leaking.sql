-- USD an hour that sandboxes cost which clean-up rules found due and that are still there.
SELECT coalesce(sum(per_hour), 0)::double precision FROM (
    SELECT DISTINCT ON (f.provider, f.sandbox) v.per_hour
    FROM sandkeeper.findings f
    JOIN sandkeeper.sandboxes s ON s.provider = f.provider AND s.id = f.sandbox AND s.gone_at IS NULL
    CROSS JOIN LATERAL (
        SELECT per_hour FROM sandkeeper.verdicts v WHERE v.subject = f.subject AND v.rule = f.rule
        ORDER BY number DESC LIMIT 1) v
    WHERE f.resolved_at IS NULL AND f.due AND f.sandbox <> '' AND f.rule = ANY (@rules::text[])
    ORDER BY f.provider, f.sandbox, v.per_hour DESC) each
