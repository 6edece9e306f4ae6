-- One incident.
SELECT id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, last_seen,
       closed_at, count, cost, released_at, released_by, released_why, release_seal,
       acked_at, acked_by, acked_why
FROM sandkeeper.incidents WHERE id = @id
