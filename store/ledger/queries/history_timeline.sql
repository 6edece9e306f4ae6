-- What happened to these subjects, newest first. Each is a look into an index of its own,
-- whatever the planner thinks of the history.
SELECT t.at, t.subject, t.kind, t.what
FROM (SELECT DISTINCT unnest(@subjects::text[])) s (subject)
CROSS JOIN LATERAL (
    SELECT t.* FROM sandkeeper.timeline t WHERE t.subject = s.subject
    ORDER BY t.at DESC, t.number DESC LIMIT @most) t
ORDER BY t.at DESC, t.number DESC
LIMIT @most
