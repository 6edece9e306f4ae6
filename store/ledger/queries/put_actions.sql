-- Plans actions and says which. What is open already for its subject and step (a step on a
-- sandbox: for that sandbox) stays as it is, and a later step comes only with its remedy's
-- first: else it would be done without its ground.
INSERT INTO sandkeeper.actions (
    id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
    row_only, planned_at, next_attempt, began, signature, author, running, anyway, row_before, seal)
SELECT u.id, u.remedy, u.seq, u.pass, u.rule, u.subject, u.provider, u.sandbox, u.task, u.step, u.reason,
       u.evidence::jsonb, u.row_only, u.planned_at, u.next_attempt, u.began, u.signature, u.author, u.running,
       u.anyway, u.before::jsonb, u.seal
FROM unnest(
    @ids::text[], @remedies::text[], @seqs::integer[], @passes::bigint[], @rules::text[], @subjects::text[],
    @providers::text[], @sandboxes::text[], @tasks::text[], @steps::text[], @reasons::text[],
    @evidence::text[], @row_only::boolean[], @planned_at::timestamptz[], @next_attempt::timestamptz[],
    @began::timestamptz[], @signatures::text[], @authors::text[], @running::boolean[], @anyway::boolean[],
    @befores::text[], @seals::text[])
    u (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
       row_only, planned_at, next_attempt, began, signature, author, running, anyway, before, seal)
WHERE u.seq = 0 OR EXISTS (
    SELECT FROM sandkeeper.actions first WHERE first.id = u.remedy
      -- guard:sql-put-after-first P2
      AND first.outcome NOT IN ('withdrawn', 'failed'))
ORDER BY u.remedy, u.seq
-- guard:sql-put-once once
ON CONFLICT DO NOTHING
RETURNING id
