-- The open actions by rule, provider, step and outcome, and of these the terminates that
-- the provider was first asked for long ago.
SELECT rule, provider, step, outcome, count(*),
       count(*) FILTER (WHERE step = 'terminate' AND first_acted_at <= @overdue)
FROM sandkeeper.actions WHERE closed_at IS NULL
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
