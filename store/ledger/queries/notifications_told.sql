-- Notes what one receiver was told, and counts it. What changed meanwhile is still to be told.
WITH said AS (
    SELECT * FROM unnest(@keys::text[], @versions::text[]) s (key, version)
), told AS (
    UPDATE sandkeeper.notifications n SET told = said.version, told_at = @now, attempts = 0, error = '',
        next_at = @now
    FROM said WHERE n.receiver = @receiver AND n.key = said.key
    RETURNING 1
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'notifications', '', '', @receiver::text || ':told', count(*) FROM told HAVING count(*) > 0
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
