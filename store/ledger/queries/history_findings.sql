-- Findings, open and resolved, on these tasks and sandboxes, newest first.
SELECT rule, subject, provider, sandbox, task, reason, evidence, first_seen, last_seen,
       sighted_at, sightings, due, held_by, opened_at, resolved_at, incident
FROM sandkeeper.findings
WHERE subject = @id OR task = ANY(@tasks::text[]) AND task <> ''
   OR sandbox = ANY(@sandboxes::text[]) AND sandbox <> ''
      AND (provider, sandbox) IN (SELECT * FROM unnest(@providers::text[], @sandboxes::text[]))
ORDER BY opened_at DESC, number DESC
LIMIT @most
