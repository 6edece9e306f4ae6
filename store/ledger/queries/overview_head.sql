-- The installation that the ledger belongs to, who holds the pass lease now, and since when he says so, and how many
-- seconds ahead the places for calls to each provider are given out; 0 where one is free now.
SELECT coalesce((SELECT name FROM sandkeeper.installation), ''), coalesce(l.holder, ''), coalesce(l.epoch, 0),
       l.expires_at, l.taken_at,
       ARRAY(SELECT provider FROM sandkeeper.rates ORDER BY provider),
       ARRAY(SELECT greatest(extract(epoch FROM next_at - clock_timestamp()), 0)::float8
             FROM sandkeeper.rates ORDER BY provider)
FROM (SELECT) AS once
LEFT JOIN sandkeeper.leases AS l ON l.name = 'pass' AND l.holder <> '' AND l.expires_at > @now
