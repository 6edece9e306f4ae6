-- The open findings, those counted together that are alike in rule, provider, tenant and in the
-- first words of what holds them: a text may go on with ids and reasons. Equal texts are
-- put together first, because taking texts apart costs more than all the rest. What was planted to be found is none.
SELECT rule, provider, due,
       ARRAY(SELECT DISTINCT split_part(h, ' ', 1) || ' ' || split_part(h, ' ', 2) FROM unnest(held_by) h),
       tenant, sum(alike)::bigint, min(oldest), sum(open)
FROM (
    SELECT rule, provider, due, held_by,
           coalesce((SELECT t.tenant FROM sandkeeper.task_states t WHERE t.id = f.task), '') tenant,
           count(*) alike, min(opened_at) oldest, sum(@now::timestamptz - opened_at) open
    FROM sandkeeper.findings f
    WHERE resolved_at IS NULL AND NOT EXISTS (
        SELECT FROM sandkeeper.canaries c
        WHERE c.provider = f.provider AND c.sandbox = f.sandbox AND c.sandbox <> '')
    GROUP BY 1, 2, 3, 4, 5) f
GROUP BY 1, 2, 3, 4, 5
