-- The actions that were begun on the budget of one pass, those that were planned first before the others. Where a part
-- begins is looked up, for the action that it follows stays.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
FROM sandkeeper.actions WHERE begun_pass = @pass
  AND (@key::text = '' OR (coalesce(planned_at, '-infinity'), remedy, seq, id) > (
      SELECT coalesce(b.planned_at, '-infinity'), b.remedy, b.seq, b.id FROM sandkeeper.actions b WHERE b.id = @key))
ORDER BY coalesce(planned_at, '-infinity'), remedy, seq, id
LIMIT @most
