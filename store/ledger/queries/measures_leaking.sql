-- How many sandboxes clean-up rules found due that are still there, and what they cost an hour, by the rule that found
-- them and their provider. One that several rules found counts for the one that says it costs the most.
SELECT rule, provider, count(*), sum(per_hour)::double precision FROM (
    SELECT DISTINCT ON (f.provider, f.sandbox) f.rule, f.provider, v.per_hour
    FROM sandkeeper.findings f
    JOIN sandkeeper.sandboxes s ON s.provider = f.provider AND s.id = f.sandbox AND s.gone_at IS NULL
    CROSS JOIN LATERAL (
        SELECT per_hour FROM sandkeeper.verdicts v WHERE v.subject = f.subject AND v.rule = f.rule
        ORDER BY number DESC LIMIT 1) v
    WHERE f.resolved_at IS NULL AND f.due AND f.sandbox <> '' AND f.rule = ANY (@rules::text[])
    ORDER BY f.provider, f.sandbox, v.per_hour DESC, f.rule) each
GROUP BY 1, 2 ORDER BY 1, 2
