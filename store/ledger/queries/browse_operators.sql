-- What operators asked for, newest first.
SELECT at, subject, kind, what, number
FROM sandkeeper.timeline
WHERE kind = 'operator' AND (@at::timestamptz IS NULL OR at <= @at AND (at, number) < (@at, @key::bigint))
ORDER BY at DESC, number DESC
LIMIT @most
