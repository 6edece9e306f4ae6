-- The verdicts of the last hours, the newest ones when there are too many, oldest first.
SELECT * FROM (
    SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, failed_at, over, regret_at, regret
    FROM sandkeeper.verdicts WHERE at > @since
    ORDER BY at DESC, number DESC LIMIT @most) v
ORDER BY at, number
