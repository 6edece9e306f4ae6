-- What the sandboxes of each rule cost since a time, by provider: from the first verdict until they were gone, where
-- anybody remembers them, and until they were found.
WITH recent AS (
    SELECT v.rule, v.at, v.per_hour, v.provider, v.sandbox,
           CASE WHEN v.began IS NULL THEN v.cost
                ELSE least(v.cost, v.per_hour * greatest(0, extract(epoch FROM v.at - v.began)) / 3600) END until_found,
           row_number() OVER (PARTITION BY v.rule, v.provider, v.sandbox ORDER BY v.at, v.number) nth
    FROM sandkeeper.verdicts v WHERE v.at > @from
)
SELECT r.rule, r.provider,
       coalesce(sum(r.per_hour * greatest(0, extract(epoch FROM coalesce(s.gone_at, @now) - r.at)) / 3600)
           FILTER (WHERE s.id IS NOT NULL), 0)::double precision,
       coalesce(sum(r.until_found), 0)::double precision
FROM recent r LEFT JOIN sandkeeper.sandboxes s ON s.provider = r.provider AND s.id = r.sandbox
WHERE r.nth = 1
GROUP BY r.rule, r.provider
