-- Writes what became of an action and frees the claim, if the claim is still this very
-- one: same holder, same lease, same attempt. A call that is newer than all before is counted. A budget that comes back is no longer begun.
WITH settled AS (
    UPDATE sandkeeper.actions
    SET outcome = @outcome, detail = @detail, how = @how, waits_for = @waits_for::text[],
        acted_at = coalesce(@acted_at, acted_at),
        first_acted_at = coalesce(first_acted_at, @acted_at),
        asked_at = GREATEST(asked_at, @acted_at, @asked_at),
        asks = asks + CASE WHEN GREATEST(@acted_at, @asked_at::timestamptz)
                             > coalesce(GREATEST(acted_at, asked_at), '-infinity') THEN 1 ELSE 0 END,
        evidence = CASE WHEN @evidence::jsonb = '[]' THEN evidence ELSE @evidence::jsonb END,
        closed_at = CASE WHEN @closed THEN @now::timestamptz END, next_attempt = @next_attempt,
        row_before = coalesce(@row_before::jsonb, row_before),
        claimed_by = '', claim_ends = NULL,
        begun_at = CASE WHEN @gives_back AND seq = 0 THEN NULL ELSE begun_at END,
        begun_pass = CASE WHEN @gives_back AND seq = 0 THEN NULL ELSE begun_pass END
    WHERE id = @id
      AND closed_at IS NULL
      AND claimed_by = @holder
      AND claim_epoch = @epoch
      -- guard:sql-settle-attempt once
      AND attempts = @attempts
    RETURNING id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
), counted AS (
    INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
    SELECT 'actions', rule, provider, step || ':' || outcome, 1 FROM settled
    ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
)
SELECT * FROM settled
