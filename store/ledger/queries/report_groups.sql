-- What each rule came to since a time by the labels of the sandboxes, where it was wrong about some of them.
SELECT v.rule, l.label, count(DISTINCT v.subject), count(DISTINCT v.subject) FILTER (WHERE v.regret_at IS NOT NULL)
FROM sandkeeper.verdicts AS v CROSS JOIN LATERAL unnest(v.labels) AS l (label)
WHERE v.at > @from
GROUP BY v.rule, l.label HAVING count(v.regret_at) > 0
ORDER BY v.rule, l.label
