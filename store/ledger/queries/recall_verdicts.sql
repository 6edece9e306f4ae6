-- The verdicts of the last hours that a pass has a use for, oldest first. Each use is bounded
-- by itself and keeps its newest: those that life could still refute, failures of work (of one
-- signature, and of all), and of clean-up the newest for each rule and subject. So a leak of
-- thousands of sandboxes hides nothing of the tasks.
WITH lately AS MATERIALIZED (
    SELECT number, rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
       at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, acted_at, failed_at, over, regret_at, regret
    FROM sandkeeper.verdicts WHERE at > @since
), alike AS (
    SELECT number, at, row_number() OVER (PARTITION BY signature ORDER BY at DESC, number DESC) AS nth
    FROM lately WHERE signature <> ''
), cleaned AS (
    SELECT DISTINCT ON (rule, subject) number, at
    FROM lately WHERE signature = '' ORDER BY rule, subject, at DESC, number DESC
), wanted AS (
    (SELECT number FROM lately
     WHERE rule = ANY(@refutable::text[]) AND task <> '' AND NOT over AND regret_at IS NULL
     ORDER BY at DESC, number DESC LIMIT @most_watched)
    UNION
    (SELECT number FROM alike WHERE nth <= @most_alike ORDER BY at DESC, number DESC LIMIT @most_failures)
    UNION
    (SELECT number FROM cleaned ORDER BY at DESC, number DESC LIMIT @most_cleaned)
)
SELECT * FROM lately WHERE number IN (SELECT number FROM wanted)
ORDER BY at, number
