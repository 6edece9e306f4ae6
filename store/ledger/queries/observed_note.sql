-- Notes since when rules are as they are now.
INSERT INTO sandkeeper.observed_since AS o (rule, sum, since)
SELECT rule, sum, @now FROM unnest(@rules::text[], @sums::text[]) AS u (rule, sum)
ON CONFLICT (rule) DO UPDATE SET sum = excluded.sum, since = excluded.since WHERE o.sum <> excluded.sum
