-- The newest verdicts of an incident's signature while it lasted.
SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, acted_at, failed_at, over, regret_at, regret
FROM sandkeeper.verdicts
WHERE signature = @signature AND signature <> '' AND at >= @first AND (@closed::timestamptz IS NULL OR at <= @closed)
  AND (@at::timestamptz IS NULL OR at <= @at AND (at, number) < (@at, @key::bigint))
ORDER BY at DESC, number DESC
LIMIT @most
