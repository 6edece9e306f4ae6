-- The open ends of sandboxes whose end an operator asks for, locked in a fixed order.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
FROM sandkeeper.actions
WHERE closed_at IS NULL AND step = 'terminate'
  AND (provider, sandbox) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY remedy, seq, id
FOR UPDATE
