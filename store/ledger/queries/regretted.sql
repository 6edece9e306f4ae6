-- The verdicts that turned out to be wrong, newest first.
SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, acted_at, failed_at, over, regret_at, regret
FROM sandkeeper.verdicts WHERE regret_at IS NOT NULL
ORDER BY regret_at DESC, number DESC LIMIT @most
