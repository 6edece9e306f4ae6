-- The newest regrets of each rule among the verdicts since a time.
SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, acted_at, failed_at, over, regret_at, regret
FROM (
    SELECT v.*, row_number() OVER (PARTITION BY v.rule ORDER BY v.regret_at DESC, v.number DESC) nth
    FROM sandkeeper.verdicts v WHERE v.at > @from AND v.regret_at IS NOT NULL) v
WHERE nth <= @most
ORDER BY regret_at DESC, number DESC
