-- How many seconds ahead the places for calls to each provider are given out; 0 where one is free now.
SELECT provider, greatest(extract(epoch FROM next_at - clock_timestamp()), 0)::float8
FROM sandkeeper.rates ORDER BY provider
