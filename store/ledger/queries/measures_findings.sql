-- The open findings, those counted together that are alike in rule, provider and in the
-- first words of what holds them: a text may go on with ids and reasons. Equal texts are
-- put together first, because taking texts apart costs more than all the rest.
SELECT rule, provider, due,
       ARRAY(SELECT DISTINCT split_part(h, ' ', 1) || ' ' || split_part(h, ' ', 2) FROM unnest(held_by) h),
       sum(alike)::bigint, min(oldest)
FROM (
    SELECT rule, provider, due, held_by, count(*) alike, min(opened_at) oldest
    FROM sandkeeper.findings WHERE resolved_at IS NULL
    GROUP BY 1, 2, 3, 4) f
GROUP BY 1, 2, 3, 4
