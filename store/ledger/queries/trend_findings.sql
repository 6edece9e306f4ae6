-- How many findings opened and how many were resolved in each slot.
SELECT floor(extract(epoch FROM at - @from::timestamptz) / extract(epoch FROM @slot::interval))::int,
       sum(opened)::int, sum(resolved)::int
FROM (
    SELECT opened_at AS at, 1 AS opened, 0 AS resolved
    FROM sandkeeper.findings WHERE resolved_at IS NULL AND opened_at >= @from
    UNION ALL
    SELECT opened_at, 1, 0 FROM sandkeeper.findings WHERE resolved_at >= @from AND opened_at >= @from
    UNION ALL
    SELECT resolved_at, 0, 1 FROM sandkeeper.findings WHERE resolved_at >= @from
) moved
GROUP BY 1
