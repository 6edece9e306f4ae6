-- The passes that ended after one, oldest first. They end in the order of their numbers: one lease makes them all.
SELECT id, kind, holder, began_at, ended_at, complete, error, kept, counts
FROM sandkeeper.passes WHERE id > @pass::bigint AND ended_at IS NOT NULL ORDER BY id LIMIT @most
