-- Verdicts on these tasks and sandboxes, newest first.
SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, acted_at, failed_at, over, regret_at, regret
FROM sandkeeper.verdicts
WHERE subject = @id OR task = ANY(@tasks::text[]) AND task <> ''
   OR sandbox = ANY(@sandboxes::text[]) AND sandbox <> ''
      AND (provider, sandbox) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY number DESC
LIMIT @most
