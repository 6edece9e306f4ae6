-- Tasks, sandboxes and incidents by an id or a part of one. The beginning of an id or of a name is looked for in all
-- that is kept, another part in what is live or exists. There, the order makes the planner read the names from an index
-- alone: without one it would rather read a whole table until it has enough. What is there comes first.
WITH tasks AS (
    (SELECT id FROM sandkeeper.task_states WHERE id ~>=~ @text AND id ~<~ @end ORDER BY id USING ~<~ LIMIT @most)
    UNION
    (SELECT id FROM sandkeeper.task_states WHERE live AND strpos(id, @text) > 0 ORDER BY id LIMIT @most)
), boxes AS (
    (SELECT provider, id FROM sandkeeper.sandboxes WHERE id ~>=~ @text AND id ~<~ @end ORDER BY id USING ~<~ LIMIT @most)
    UNION
    (SELECT provider, id FROM sandkeeper.sandboxes
     WHERE name <> '' AND name ~>=~ @text AND name ~<~ @end ORDER BY name USING ~<~ LIMIT @most)
    UNION
    (SELECT provider, id FROM sandkeeper.sandboxes
     WHERE gone_at IS NULL AND (strpos(id, @text) > 0 OR strpos(name, @text) > 0) ORDER BY provider, id, name LIMIT @most)
)
SELECT 'task' AS type, '' AS provider, id, '' AS name, '' AS task, status AS state, live AS there
FROM tasks JOIN sandkeeper.task_states USING (id)
UNION ALL
SELECT 'sandbox', provider, id, name, task, state, gone_at IS NULL FROM boxes JOIN sandkeeper.sandboxes USING (provider, id)
UNION ALL
SELECT 'incident', provider, id, template, '', CASE WHEN closed_at IS NULL THEN 'open' ELSE 'closed' END, closed_at IS NULL
FROM sandkeeper.incidents WHERE id = @text
ORDER BY there DESC, type DESC, id, provider
LIMIT @most
