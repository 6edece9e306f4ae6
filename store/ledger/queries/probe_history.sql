-- Adds probe results to the history and counts them.
WITH added AS (
    INSERT INTO sandkeeper.probes (provider, sandbox, outcome, detail, at, took_us, worker)
    SELECT * FROM unnest(
        @providers::text[], @sandboxes::text[], @outcomes::text[], @details::text[],
        @at::timestamptz[], @took::bigint[], @workers::text[])
    RETURNING provider, outcome
), hourly AS (
    INSERT INTO sandkeeper.hours AS h (hour, name, what, value)
    SELECT @hour, 'probes', outcome, count(*) FROM added GROUP BY 3 ORDER BY 3
    ON CONFLICT (hour, name, what) DO UPDATE SET value = h.value + excluded.value
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'probes', '', provider, outcome, count(*) FROM added GROUP BY 3, 4 ORDER BY 3, 4
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
