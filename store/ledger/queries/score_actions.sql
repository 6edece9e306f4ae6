-- The terminates that were begun and were closed lately, or that the provider was first
-- asked for long ago and that are still open. What was on its way out without us is none.
SELECT rule, outcome, began, first_acted_at, closed_at
FROM sandkeeper.actions
WHERE step = 'terminate' AND closed_at > @from AND outcome IN ('confirmed', 'failed')
  AND (outcome = 'failed' OR first_acted_at IS NOT NULL AND how <> ALL (@unclaimed::text[]))
UNION ALL
SELECT rule, outcome, began, first_acted_at, closed_at
FROM sandkeeper.actions
WHERE step = 'terminate' AND closed_at IS NULL AND first_acted_at <= @overdue
