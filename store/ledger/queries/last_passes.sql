-- The newest passes, newest first.
SELECT id, kind, holder, began_at, ended_at, complete, error, kept, counts
FROM sandkeeper.passes ORDER BY id DESC LIMIT @most
