-- How many of the newest verdicts of each rule that were carried out since it was armed
-- last turned out to be wrong, and about whose tasks. Each rule costs one look into an index.
SELECT a.rule, count(*), count(v.regret_at),
    array_agg(DISTINCT coalesce(t.tenant, '')) FILTER (WHERE v.regret_at IS NOT NULL)
FROM sandkeeper.armings a
CROSS JOIN LATERAL (
    SELECT v.regret_at, v.task FROM sandkeeper.verdicts v
    WHERE v.rule = a.rule AND v.number > a.after AND v.enforced AND v.acted_at IS NOT NULL
    ORDER BY v.number DESC LIMIT @most) v
LEFT JOIN sandkeeper.task_states t ON v.regret_at IS NOT NULL AND t.id = v.task
GROUP BY a.rule
