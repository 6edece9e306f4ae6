-- As observed, by the labels of the sandboxes, where the rule was wrong about some of them.
SELECT o.rule, l.label, count(DISTINCT v.subject), count(DISTINCT v.subject) FILTER (WHERE v.regret_at IS NOT NULL)
FROM sandkeeper.observed_since AS o
LEFT JOIN sandkeeper.armings AS a ON a.rule = o.rule
JOIN sandkeeper.verdicts AS v ON v.rule = o.rule AND v.at > greatest(o.since, @from)
    AND v.number > coalesce(a.after, 0)
    AND (v.regret_at IS NOT NULL OR NOT v.over AND v.acted_at IS NULL AND v.at <= @followed)
CROSS JOIN LATERAL unnest(v.labels) AS l (label)
GROUP BY o.rule, l.label HAVING count(v.regret_at) > 0
ORDER BY o.rule, l.label
