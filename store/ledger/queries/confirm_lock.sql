-- Locks the sandboxes of these actions before the actions, in the order in which a record takes them.
SELECT FROM sandkeeper.sandboxes
WHERE (provider, id) IN (SELECT provider, sandbox FROM sandkeeper.actions WHERE id = ANY(@ids::text[]))
ORDER BY provider, id
FOR NO KEY UPDATE
