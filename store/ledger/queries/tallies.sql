-- How many of the newest verdicts of each rule that were carried out since it was armed
-- last turned out to be wrong. Each rule costs one look into an index.
SELECT a.rule, count(*), count(v.regret_at)
FROM sandkeeper.armings a
CROSS JOIN LATERAL (
    SELECT v.regret_at FROM sandkeeper.verdicts v
    WHERE v.rule = a.rule AND v.number > a.after AND v.enforced AND v.acted_at IS NOT NULL
    ORDER BY v.number DESC LIMIT @most) v
GROUP BY a.rule
