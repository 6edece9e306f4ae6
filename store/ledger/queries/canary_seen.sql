-- Finds the sandboxes of canaries whose provider never answered, by the names that they were made with.
UPDATE sandkeeper.canaries c SET sandbox = s.id
FROM sandkeeper.sandboxes s
WHERE c.sandbox = '' AND c.planted_at > @day AND s.provider = c.provider AND s.name = c.name AND s.name <> ''
