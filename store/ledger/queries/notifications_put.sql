-- Writes down what is wrong now, for one receiver. What changed is told at once; what is wrong no more is over.
WITH wrong AS (
    SELECT * FROM unnest(@keys::text[], @kinds::text[], @severities::text[], @titles::text[], @words::text[],
        @since::timestamptz[], @versions::text[]) w (key, kind, severity, title, words, since, version)
), over AS (
    UPDATE sandkeeper.notifications n SET version = '', next_at = @now, attempts = 0
    WHERE n.receiver = @receiver AND n.version <> '' AND NOT EXISTS (SELECT 1 FROM wrong w WHERE w.key = n.key)
)
INSERT INTO sandkeeper.notifications AS n (receiver, key, kind, severity, title, words, since, version, next_at)
SELECT @receiver, key, kind, severity, title, words, since, version, @now FROM wrong
ON CONFLICT (receiver, key) DO UPDATE
SET kind = excluded.kind, severity = excluded.severity, title = excluded.title, words = excluded.words,
    since = excluded.since, version = excluded.version, next_at = excluded.next_at, attempts = 0
WHERE n.version <> excluded.version
