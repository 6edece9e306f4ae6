-- The findings that were resolved last, newest first.
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident
FROM sandkeeper.findings WHERE resolved_at IS NOT NULL
ORDER BY resolved_at DESC, rule, subject, number DESC
LIMIT @most
