-- The findings that are open, oldest first.
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident
FROM sandkeeper.findings WHERE resolved_at IS NULL
ORDER BY opened_at, rule, subject
