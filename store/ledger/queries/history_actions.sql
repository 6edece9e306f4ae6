-- Actions on these tasks and sandboxes, newest first.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for
FROM sandkeeper.actions
WHERE subject = @id OR id = @id OR task = ANY(@tasks::text[]) AND task <> ''
   OR sandbox = ANY(@sandboxes::text[]) AND sandbox <> ''
      AND (provider, sandbox) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY planned_at DESC, remedy, seq DESC, id
LIMIT @most
