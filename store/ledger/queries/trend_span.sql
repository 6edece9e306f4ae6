-- When the first complete full pass of some time began, and how many there were.
SELECT coalesce(min(began_at), @now::timestamptz), count(*)::int
FROM sandkeeper.passes WHERE kind = 'full' AND complete AND began_at >= @from
