-- The actions that are not closed, of these remedies or of all, oldest remedy first.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
FROM sandkeeper.actions WHERE closed_at IS NULL AND (@remedies::text[] IS NULL OR remedy = ANY (@remedies))
ORDER BY planned_at NULLS FIRST, remedy, seq, id
