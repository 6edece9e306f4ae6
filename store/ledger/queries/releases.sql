-- The releases in force.
SELECT id, what, subjects, hash, reason, author, at, until, seal FROM sandkeeper.releases
WHERE until > @now
ORDER BY id
