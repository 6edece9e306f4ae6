-- What each rule came to since a time. A sandbox costs from its first verdict until it was
-- gone; one that nobody remembers costs nothing that could be told.
WITH recent AS (
    SELECT v.rule, v.subject, v.acted_at, v.regret_at, v.at, v.per_hour, v.provider, v.sandbox,
           CASE WHEN v.began IS NULL THEN v.cost
                ELSE least(v.cost, v.per_hour * greatest(0, extract(epoch FROM v.at - v.began)) / 3600) END until_found,
           row_number() OVER (PARTITION BY v.rule, v.provider, v.sandbox ORDER BY v.at, v.number) nth
    FROM sandkeeper.verdicts v WHERE v.at > @from
)
SELECT r.rule, count(*), count(r.acted_at), count(DISTINCT r.subject), count(r.regret_at),
       coalesce(sum(r.per_hour * greatest(0, extract(epoch FROM coalesce(s.gone_at, @now) - r.at)) / 3600)
           FILTER (WHERE r.nth = 1 AND s.id IS NOT NULL), 0)::double precision,
       coalesce(sum(r.until_found) FILTER (WHERE r.nth = 1), 0)::double precision
FROM recent r LEFT JOIN sandkeeper.sandboxes s ON s.provider = r.provider AND s.id = r.sandbox
GROUP BY r.rule
