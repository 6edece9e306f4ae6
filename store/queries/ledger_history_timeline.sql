-- What happened to these subjects, newest first.
SELECT at, subject, kind, what
FROM sandkeeper.timeline
WHERE subject = ANY(@subjects::text[])
ORDER BY at DESC, number DESC
LIMIT @most
