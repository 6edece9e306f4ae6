-- The sums of the hours that overlap the window, and of those before it.
SELECT hour > @from_hour, name, what, sum(value)::bigint
FROM sandkeeper.hours GROUP BY 1, 2, 3
