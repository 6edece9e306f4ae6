-- Adds to totals. Equal ones are put together: one statement cannot change a row twice.
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT name, rule, provider, what, sum(value)
FROM unnest(@names::text[], @rules::text[], @providers::text[], @what::text[], @values::bigint[])
    u (name, rule, provider, what, value)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
