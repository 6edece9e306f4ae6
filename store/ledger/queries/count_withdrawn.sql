-- Counts the steps of these remedies, or of these names, that this transaction withdrew. A
-- statement of its own, after all that waits for actions: who holds a total and then waits
-- for an action stands in the way of a worker who settles that action and then counts.
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'actions', rule, provider, step || ':withdrawn', count(*)
FROM sandkeeper.actions
WHERE (id = ANY(@ids::text[]) OR remedy = ANY(@ids::text[]))
  AND outcome = 'withdrawn' AND xmin = pg_current_xact_id()::xid
GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
