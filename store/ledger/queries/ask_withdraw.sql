-- Withdraws steps, locked and judged before, for an operator.
WITH ended AS (
    UPDATE sandkeeper.actions SET outcome = 'withdrawn', detail = @detail, closed_at = @now,
        claimed_by = '', claim_ends = NULL
    WHERE id = ANY(@ids::text[])
    RETURNING rule, provider, step
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'actions', rule, provider, step || ':withdrawn', count(*) FROM ended GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
