-- All totals.
SELECT name, rule, provider, what, value FROM sandkeeper.counters ORDER BY name, rule, provider, what
