-- How many sandboxes we ended since a time, and what they would have cost since they were gone, by the newest rule that
-- found them and their provider. What went while no answer said that we were heard, somebody else may have ended.
SELECT v.rule, s.provider, count(*),
       coalesce(sum(v.per_hour * extract(epoch FROM @now::timestamptz - s.gone_at) / 3600), 0)::double precision
FROM sandkeeper.sandboxes s
CROSS JOIN LATERAL (
    SELECT rule, per_hour FROM sandkeeper.verdicts v
    WHERE v.sandbox = s.id AND v.sandbox <> '' AND v.provider = s.provider
    ORDER BY number DESC LIMIT 1) v
WHERE s.gone_at >= @from AND s.gone_at <= @now AND s.gone_by_us
  AND NOT EXISTS (SELECT FROM sandkeeper.actions a WHERE a.sandbox = s.id AND a.sandbox <> '' AND a.provider = s.provider
                    AND a.step = 'terminate' AND a.outcome = 'confirmed' AND a.how = 'unheard')
GROUP BY 1, 2 ORDER BY 1, 2
