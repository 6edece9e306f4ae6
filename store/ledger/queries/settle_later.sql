-- Withdraws the later steps of a remedy that has lost its ground, or those on one sandbox.
WITH ended AS (
    UPDATE sandkeeper.actions
    SET outcome = 'withdrawn', detail = @detail, how = '', waits_for = '{}', closed_at = @now, claimed_by = '', claim_ends = NULL
    WHERE remedy = @remedy
      AND seq > @seq
      -- guard:sql-later-open lost
      AND closed_at IS NULL
      -- guard:sql-later-sandbox lost
      AND (NOT @one_sandbox OR provider = @provider AND sandbox = @sandbox)
    RETURNING id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
), counted AS (
    INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
    SELECT 'actions', rule, provider, step || ':' || outcome, count(*) FROM ended
    GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
)
SELECT * FROM ended ORDER BY seq, id
