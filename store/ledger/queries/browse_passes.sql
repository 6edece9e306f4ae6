-- The passes from a number downwards; 0 is the newest.
SELECT id, kind, holder, began_at, ended_at, complete, error, kept, counts
FROM sandkeeper.passes WHERE @below::bigint = 0 OR id < @below ORDER BY id DESC LIMIT @most
