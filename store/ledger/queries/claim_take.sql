-- Hands the action, locked and judged claimable before, to its holder. The first claim of
-- a remedy's first step is what the budgets count; one that an operator asked for has no pass.
UPDATE sandkeeper.actions
SET claimed_at = @now, claimed_by = @holder, claim_ends = @ends, claim_epoch = @epoch,
    attempts = attempts + 1,
    begun_at = CASE WHEN @begins THEN @now ELSE begun_at END,
    begun_pass = CASE WHEN @begins THEN @pass::bigint ELSE begun_pass END,
    begun_shared = CASE WHEN @begins THEN @shares ELSE begun_shared END
WHERE id = @id AND closed_at IS NULL
RETURNING id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
