-- What each rule would have done since it is as it is now, followed for long enough: how many subjects, and how many of
-- them lived or were used afterwards. What was ended by us cannot show that any more, so it counts only when it did.
SELECT o.rule, o.since, count(DISTINCT v.subject), count(DISTINCT v.subject) FILTER (WHERE v.regret_at IS NOT NULL)
FROM sandkeeper.observed_since AS o
LEFT JOIN sandkeeper.armings AS a ON a.rule = o.rule
LEFT JOIN sandkeeper.verdicts AS v ON v.rule = o.rule AND v.at > greatest(o.since, @from)
    AND v.number > coalesce(a.after, 0)
    AND (v.regret_at IS NOT NULL OR NOT v.over AND v.acted_at IS NULL AND v.at <= @followed)
GROUP BY o.rule, o.since ORDER BY o.rule
