-- Takes what one receiver is to be told: what changed, what is over, and what was told long ago and is wrong still. The
-- next attempt is put off, with pauses that double, so that nobody else takes it meanwhile; what another process is just
-- taking is passed over.
WITH due AS (
    SELECT receiver, key FROM sandkeeper.notifications
    WHERE receiver = @receiver AND next_at <= @now
      AND (version <> told OR version <> '' AND told_at <= @repeat)
    ORDER BY key LIMIT @most
    FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE sandkeeper.notifications n
    SET attempts = attempts + 1,
        next_at = @now::timestamptz + least(@longest::interval, @shortest::interval * 2 ^ least(attempts, 20))
    FROM due WHERE n.receiver = due.receiver AND n.key = due.key
    RETURNING n.key, n.kind, n.severity, n.title, n.words, n.since, n.version
)
SELECT * FROM taken ORDER BY version = '', since, key
