-- The incidents that are open, oldest first.
SELECT id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, last_seen,
       closed_at, count, cost, released_at, released_by, released_why, release_seal,
       acked_at, acked_by, acked_why
FROM sandkeeper.incidents WHERE closed_at IS NULL ORDER BY opened_at, id
