-- Writes down why a notice could not be delivered, and gives up on one that is too old.
WITH failed AS (
    UPDATE sandkeeper.notices SET error = @why, closed_at = CASE WHEN at <= @too_old THEN @now::timestamptz END
    WHERE action = @action AND closed_at IS NULL
    RETURNING rule, provider, closed_at
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'notices', rule, provider, 'given-up', 1 FROM failed WHERE closed_at IS NOT NULL
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
