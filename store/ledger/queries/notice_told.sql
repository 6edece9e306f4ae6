-- Closes a notice that was delivered, and counts it once.
WITH told AS (
    UPDATE sandkeeper.notices SET closed_at = @now, error = ''
    WHERE action = @action AND closed_at IS NULL
    RETURNING rule, provider
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'notices', rule, provider, 'told', 1 FROM told
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
