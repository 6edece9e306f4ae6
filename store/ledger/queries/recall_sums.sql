-- What a recall would read comes in buckets: which of them hold something else than what the sums say that were taken
-- of them before, each with its sum now. It follows a recall's own statement, see queries.go.
SELECT coalesce(now.bucket, was.bucket)::bigint, coalesce(now.sum, 0)
FROM (
    SELECT q.bucket, bit_xor(q.sum) AS sum FROM recalled AS q GROUP BY q.bucket
) AS now
FULL JOIN (
    SELECT place - 1 AS bucket, sum FROM unnest(@sums::bigint[]) WITH ORDINALITY AS u (sum, place)
) AS was USING (bucket)
WHERE coalesce(now.sum, 0) <> coalesce(was.sum, 0)
