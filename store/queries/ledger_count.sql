-- Adds to totals.
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT * FROM unnest(@names::text[], @rules::text[], @providers::text[], @what::text[], @values::bigint[])
ORDER BY 1, 2, 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
