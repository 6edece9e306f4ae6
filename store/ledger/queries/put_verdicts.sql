-- Keeps new verdicts, remembers their rules as such that may be armed, and counts them.
WITH put AS (
    INSERT INTO sandkeeper.verdicts (
        rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
        at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, labels)
    SELECT rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
        at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour,
        ARRAY(SELECT jsonb_array_elements_text(labels))
    FROM unnest(
        @rules::text[], @subjects::text[], @tasks::text[], @providers::text[], @sandboxes::text[],
        @templates::text[], @regions::text[], @workers::text[], @errors::text[], @signatures::text[],
        @reasons::text[], @at::timestamptz[], @began::timestamptz[], @late::bigint[], @task_at::timestamptz[],
        @signs::timestamptz[], @attempts::bigint[], @enforced::boolean[], @costs::double precision[],
        @per_hour::double precision[], @labels::jsonb[]) AS u (
        rule, subject, task, provider, sandbox, template, region, worker, error, signature, reason,
        at, began, late_us, task_at, sign, attempt, enforced, cost, per_hour, labels)
    RETURNING rule, provider, enforced
), armable AS (
    INSERT INTO sandkeeper.armings (rule) SELECT DISTINCT rule FROM put ORDER BY 1 ON CONFLICT DO NOTHING
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'verdicts', rule, provider, CASE WHEN enforced THEN 'enforced' ELSE 'observed' END, count(*)
FROM put GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
