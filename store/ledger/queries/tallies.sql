-- How many of the newest verdicts of each rule that were carried out since it was armed
-- last turned out to be wrong, and about whose tasks. Each rule costs one look into an index, and each
-- wrong verdict another: a join would read all tasks for a few.
SELECT a.rule, count(*), count(v.regret_at),
    array_agg(DISTINCT CASE WHEN v.regret_at IS NOT NULL THEN coalesce(
        (SELECT t.tenant FROM sandkeeper.task_states t WHERE t.id = v.task), '') END)
        FILTER (WHERE v.regret_at IS NOT NULL)
FROM sandkeeper.armings a
CROSS JOIN LATERAL (
    SELECT v.regret_at, v.task FROM sandkeeper.verdicts v
    WHERE v.rule = a.rule AND v.number > a.after AND v.enforced AND v.acted_at IS NOT NULL
    ORDER BY v.number DESC LIMIT @most) v
GROUP BY a.rule
