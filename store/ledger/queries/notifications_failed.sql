-- Notes why one receiver could not be told, and counts the attempt.
WITH failed AS (
    UPDATE sandkeeper.notifications SET error = @why WHERE receiver = @receiver AND key = ANY(@keys::text[])
    RETURNING 1
)
INSERT INTO sandkeeper.counters AS c (name, rule, provider, what, value)
SELECT 'notifications', '', '', @receiver::text || ':failed', 1 FROM failed HAVING count(*) > 0
ON CONFLICT (name, rule, provider, what) DO UPDATE SET value = c.value + excluded.value
