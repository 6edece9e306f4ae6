-- Adds to the sums of an hour.
INSERT INTO sandkeeper.hours AS h (hour, name, what, value)
SELECT @hour, name, what, sum(value) FROM unnest(@names::text[], @what::text[], @values::bigint[]) u (name, what, value)
GROUP BY 2, 3 ORDER BY 2, 3
ON CONFLICT (hour, name, what) DO UPDATE SET value = h.value + excluded.value
