-- The action to be claimed, locked, with the epoch of the last claim, that of the present
-- pass lease, and whether its remedy destroys something.
SELECT id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, outcome, detail, attempts, planned_at, claimed_at, claimed_by, claim_ends,
       acted_at, closed_at, next_attempt, first_acted_at, asked_at, asks, began, signature, author, running, anyway,
       row_before, seal, how, waits_for,
       claim_epoch, (SELECT epoch FROM sandkeeper.leases WHERE name = 'pass'), begun_at IS NOT NULL,
       EXISTS (SELECT FROM sandkeeper.actions r WHERE r.remedy = a.remedy AND NOT r.row_only)
FROM sandkeeper.actions a WHERE id = @id FOR UPDATE
