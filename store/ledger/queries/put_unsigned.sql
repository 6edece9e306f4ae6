-- Tells of requests that count for nothing in their subjects' histories, of each once.
INSERT INTO sandkeeper.timeline (at, subject, kind, what)
SELECT @now, u.subject, 'operator', u.what FROM unnest(@subjects::text[], @what::text[]) AS u (subject, what)
WHERE NOT EXISTS (
    SELECT FROM sandkeeper.timeline AS t WHERE t.subject = u.subject AND t.kind = 'operator' AND t.what = u.what)
