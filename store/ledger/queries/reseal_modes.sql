-- Signs requests with another key.
UPDATE sandkeeper.modes AS t SET seal = u.seal FROM unnest(@ids::bigint[], @seals::text[]) AS u (id, seal)
WHERE t.id = u.id
