-- Writes down that verdicts were wrong, each once, and counts them. A verdict that is
-- regretted is not watched any more.
WITH wrong AS (
    UPDATE sandkeeper.verdicts v SET regret_at = u.at, regret = u.what, over = true
    FROM unnest(@numbers::bigint[], @at::timestamptz[], @what::text[]) u (number, at, what)
    WHERE v.number = u.number
      -- guard:sql-regret-once once
      AND v.regret_at IS NULL
    RETURNING v.rule, v.provider, v.enforced
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'regrets', rule, provider, CASE WHEN enforced THEN 'enforced' ELSE 'observed' END, count(*)
FROM wrong GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
