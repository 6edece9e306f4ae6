-- Closes actions as confirmed, locked and judged to be free before: what a claim and its settlement would write.
WITH settled AS (
    UPDATE sandkeeper.actions
    SET outcome = 'confirmed', closed_at = @now, attempts = attempts + 1, claimed_at = @now, claimed_by = '',
        claim_ends = NULL, claim_epoch = @epoch
    WHERE id = ANY(@ids::text[])
    RETURNING id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
), counted AS (
    INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
    SELECT 'actions', rule, provider, step || ':' || outcome, count(*) FROM settled
    GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
)
SELECT * FROM settled ORDER BY id
