-- What the last complete full pass of each slot counted.
SELECT n, p.counts
FROM generate_series(0, @slots::int - 1) n
CROSS JOIN LATERAL (
    SELECT counts FROM sandkeeper.passes
    WHERE kind = 'full' AND complete AND began_at >= @from::timestamptz + n * @slot::interval
      AND began_at < @from::timestamptz + (n + 1) * @slot::interval
    ORDER BY began_at DESC LIMIT 1) p
